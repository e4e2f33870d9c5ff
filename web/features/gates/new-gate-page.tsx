import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type NewGate, toDraftWith, toNewGate } from './gate-draft.ts'
import { GateFields } from './gate-form.tsx'
import { useGateForm } from './use-gate-form.ts'

export function NewGatePage() {
  const { model } = useSearch({ from: '/shell/gates/new' })
  const [initial] = useState(() => toDraftWith(model))
  const form = useGateForm(initial)
  const navigate = useNavigate()
  const create = useChange({
    send: (body: NewGate) => ask('POST /v1/gates', { body }),
    makesStale: ['GET /v1/gates', 'GET /v1/targets/health'],
    done: (gate) => [
      `Gate “${gate.id}” created`,
      { description: 'Calls can name the new gate from now on.' },
    ],
    onDone: (gate) =>
      navigate({
        to: '/gates/$gateId',
        params: { gateId: gate.id },
        search: { tab: 'test' },
        ignoreBlocker: true,
      }),
    onFailure: form.refuse,
  })
  const submit = () => {
    if (!form.check()) return false
    create.mutate(toNewGate(form.draft))
    return true
  }
  const isDirty = JSON.stringify(form.draft) !== JSON.stringify(initial)
  return (
    <Page title="Create a gate" note="Choose who answers; everything else can stay as it is.">
      <Form onSubmit={submit} error={create.error} className="flex flex-col gap-6">
        <GateFields form={form} isNew />
        <ProblemNote error={form.refusal} />
        <div className="flex justify-end gap-2">
          <LinkButton to="/gates">Cancel</LinkButton>
          <Button look="primary" type="submit" isBusy={create.isPending}>
            Create the gate
          </Button>
        </div>
      </Form>
      <LeaveGuard isDirty={isDirty && !create.isSuccess} />
    </Page>
  )
}
