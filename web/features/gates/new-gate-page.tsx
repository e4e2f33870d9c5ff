/** Makes a gate. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { EMPTY_DRAFT, type NewGate, toNewGate } from './gate-draft.ts'
import { GateFields } from './gate-form.tsx'
import { LeaveGuard } from './leave-guard.tsx'
import { useGateForm } from './use-gate-form.ts'

export function NewGatePage() {
  const form = useGateForm(EMPTY_DRAFT)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: (body: NewGate) => ask('POST /v1/gates', { body }),
    onSuccess: async (gate) => {
      await refresh(queryClient, 'GET /v1/gates', 'GET /v1/targets/health')
      toast('success', `Gate “${gate.id}” created`, {
        description: 'Calls can name it from now on.',
      })
      await navigate({
        to: '/gates/$gateId',
        params: { gateId: gate.id },
        search: { tab: 'test' },
        ignoreBlocker: true,
      })
    },
    onError: form.refuse,
  })
  const submit = () => {
    if (!form.check()) return false
    create.mutate(toNewGate(form.draft))
    return true
  }
  const isDirty = JSON.stringify(form.draft) !== JSON.stringify(EMPTY_DRAFT)
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
