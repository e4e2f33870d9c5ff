import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { fillsInTheMiddle } from '../../../src/contract/dialects.ts'
import { ask } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { formatDialect } from '../../format/dialects.ts'
import { gatesWithTarget } from '../../format/gate-targets.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { ConfirmChange, Dialog, DialogActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { useChange } from '../../ui/use-change.ts'
import { CredentialHeaderField, hasCredentialHeaderField } from './credential-header-field.tsx'
import { callAddress } from './dialect-field.tsx'
import {
  type FimEndpoint,
  isComplete,
  MAX_LENGTH,
  type OwnedModel,
  toChanges,
  toDetails,
} from './draft.ts'
import { FimFields } from './fim-fields.tsx'
import { PriceFields } from './price-fields.tsx'
import { isUnderWay, LastCallNote, ProbeNote } from './probe-note.tsx'
import { RotateCredentialDialog } from './rotate-credential-dialog.tsx'
import { UseInGate } from './use-in-gate.tsx'
import { useLastCalls } from './use-last-calls.ts'

const LOOK_AGAIN_MS = 1_000

export function OwnedModelPage() {
  const { slug } = useParams({ from: '/shell/owned-models/$slug' })
  const model = useQuery({
    ...operationQuery('GET /v1/owned-models/{slug}', { path: { slug } }),
    refetchInterval: ({ state }) => isUnderWay(state.data?.probe) && LOOK_AGAIN_MS,
  })
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const [isDeleting, setDeleting] = useState(false)
  const users = gates.data && gatesWithTarget(gates.data, `owned/${slug}`)
  return (
    <Page
      title={model.data?.displayName ?? slug}
      note={
        <>
          <PageLink to="/owned-models">Owned models</PageLink> /{' '}
          <code className="font-mono text-[13px]">owned/{slug}</code>
        </>
      }
      actions={
        model.data !== undefined && (
          <Button look="danger" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden className="size-4" />
            Delete
          </Button>
        )
      }
    >
      <QueryBoundary query={model}>
        {(found) => (
          <>
            <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
              <Card>
                <CardHeader title="Details" />
                <EditForm key={found.slug} model={found} />
              </Card>
              <div className="flex min-w-0 flex-col gap-6">
                <ReachabilityCard model={found} />
                <CredentialCard model={found} />
                <FixedCard model={found} users={users} />
              </div>
            </div>
            <UseInGate slug={slug} />
            <DeleteOwnedModelDialog
              model={found}
              users={users ?? []}
              isOpen={isDeleting}
              onClose={() => setDeleting(false)}
            />
          </>
        )}
      </QueryBoundary>
    </Page>
  )
}

function CredentialCard({ model }: { readonly model: OwnedModel }) {
  const [isRotating, setRotating] = useState(false)
  return (
    <Card>
      <CardHeader
        title="Credential"
        note={
          model.credentialSetAt === null ? (
            'none is sent'
          ) : (
            <>
              set <Moment at={model.credentialSetAt} />
            </>
          )
        }
      >
        <Button size="small" onClick={() => setRotating(true)}>
          {model.credentialSetAt === null ? 'Set' : 'Rotate'}
        </Button>
      </CardHeader>
      <div className="p-5 text-[13px] text-ink-soft">
        <p>
          The credential is stored encrypted. A new credential is tested at once, and saved whether
          or not the model accepts it.
        </p>
      </div>
      <RotateCredentialDialog
        model={model}
        isOpen={isRotating}
        onClose={() => setRotating(false)}
      />
    </Card>
  )
}

function fimEndpointOf({ fimEndpoint, probe }: OwnedModel): FimEndpoint {
  return fimEndpoint === 'auto' ? (probe?.found?.fimEndpoint ?? fimEndpoint) : fimEndpoint
}

function FixedCard({
  model,
  users,
}: {
  readonly model: OwnedModel
  readonly users: readonly { readonly id: string }[] | undefined
}) {
  return (
    <Card>
      <CardHeader title="Cannot be changed" note="To rename or move it, register a new model." />
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-2 p-5 text-[13px] [&_dt]:text-ink-faint">
        <dt>Slug</dt>
        <dd className="font-mono wrap-anywhere text-ink">{model.slug}</dd>
        <dt>Format</dt>
        <dd className="text-ink">{formatDialect(model.dialect)}</dd>
        <dt>Calls go to</dt>
        <dd className="font-mono wrap-anywhere text-ink">
          {callAddress(model.dialect, model.baseUrl, fimEndpointOf(model))}
        </dd>
        <dt>Used by</dt>
        <dd className="text-ink">
          {users === undefined ? '–' : users.length === 0 ? 'no gate' : <GateLinks gates={users} />}
        </dd>
        <dt>Registered</dt>
        <dd className="text-ink">
          <Moment at={model.createdAt} />
        </dd>
        <dt>Changed</dt>
        <dd className="text-ink">
          <Moment at={model.updatedAt} />
        </dd>
      </dl>
    </Card>
  )
}

function ReachabilityCard({ model }: { readonly model: OwnedModel }) {
  const queryClient = useQueryClient()
  const { slug, probe } = model
  const lastCall = useLastCalls()(model)
  const check = useChange({
    send: () => ask('POST /v1/owned-models/{slug}/probe', { path: { slug } }),
    onAnswer: (found) => {
      queryClient.setQueryData(
        operationQuery('GET /v1/owned-models/{slug}', { path: { slug } }).queryKey,
        found,
      )
    },
    makesStale: ['GET /v1/owned-models'],
  })
  return (
    <Card>
      <CardHeader title="Reachability" note="The outcome of the last call or check.">
        <Button
          size="small"
          isBusy={check.isPending}
          disabled={probe?.status === 'checking'}
          onClick={() => check.mutate()}
        >
          Check again
        </Button>
      </CardHeader>
      <div className="flex flex-col gap-3 p-5 text-[13px] text-ink-soft">
        {lastCall !== undefined && <LastCallNote lastCall={lastCall} />}
        {probe === null ? (
          <p>This version of the gateway has not tested the model yet.</p>
        ) : lastCall === undefined ? (
          <ProbeNote probe={probe} />
        ) : (
          <details>
            <summary className="cursor-pointer rounded-sm hover:text-ink">
              Checked before that, <Moment at={probe.checkedAt} />
            </summary>
            <div className="mt-3">
              <ProbeNote probe={probe} />
            </div>
          </details>
        )}
        {isUnderWay(probe) && <p>This page shows the result of the test.</p>}
        <ProblemNote error={check.error} />
      </div>
    </Card>
  )
}

function DeleteOwnedModelDialog({
  model,
  users,
  isOpen,
  onClose,
}: {
  readonly model: OwnedModel
  readonly users: readonly { readonly id: string }[]
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const remove = useChange({
    send: () => ask('DELETE /v1/owned-models/{slug}', { path: { slug: model.slug } }),
    onAnswer: async () => {
      toast('success', `Model “${model.slug}” deleted`)
      await navigate({ to: '/owned-models', ignoreBlocker: true })
      queryClient.removeQueries({ queryKey: ['GET /v1/owned-models/{slug}'] })
    },
    makesStale: ['GET /v1/owned-models'],
    failureMakesStale: ['GET /v1/gates'],
  })
  if (users.length > 0) {
    return (
      <Dialog isOpen={isOpen} onClose={onClose} title={`${model.slug} is in use`}>
        <p className="text-sm text-ink-soft">
          It is a target of {users.length === 1 ? 'the gate' : `${users.length} gates:`}{' '}
          <GateLinks gates={users} />. Take it out there first; then it can be deleted.
        </p>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
        </DialogActions>
      </Dialog>
    )
  }
  return (
    <ConfirmChange
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete “${model.slug}”?`}
      confirmLabel="Delete the model"
      change={remove}
    >
      <p>
        No gate uses the model. The model’s credential is deleted too and cannot be restored; calls
        to the model stay in the log.
      </p>
    </ConfirmChange>
  )
}

function EditForm({ model }: { readonly model: OwnedModel }) {
  const queryClient = useQueryClient()
  const store = (now: OwnedModel) => {
    const { queryKey } = operationQuery('GET /v1/owned-models/{slug}', {
      path: { slug: model.slug },
    })
    queryClient.setQueryData(queryKey, now)
  }
  // The form's initial values, so that other people's changes are not undone.
  const edited = useEdited(model, toDetails)
  const { base: before, first, fields: typed, change, bind, begin, bringBack } = edited
  const isChanged = JSON.stringify(typed) !== JSON.stringify(first)
  if (!isChanged && before.updatedAt !== model.updatedAt) begin(model)
  const changes = toChanges(before, typed)
  const canSave = isComplete(typed) && Object.keys(changes).length > 0
  const save = useChange({
    send: async (isOverwriting: boolean) => {
      const question = { path: { slug: model.slug }, body: changes }
      const isSame = (now: OwnedModel) => now.updatedAt === before.updatedAt
      return await changeSame(
        'PATCH /v1/owned-models/{slug}',
        [question],
        isOverwriting ? undefined : isSame,
      )
    },
    onAnswer: (saved) => {
      edited.forget()
      store(saved)
      begin(saved)
      toast('success', `Model “${model.slug}” saved`, {
        description: 'Calls that begin now use the new credential.',
      })
    },
    makesStale: ['GET /v1/owned-models'],
  })
  const submit = () => {
    if (!canSave) return
    save.mutate(false)
  }
  return (
    <Form
      onSubmit={submit}
      error={save.error}
      autoComplete="off"
      className="flex flex-col gap-4 p-5"
    >
      <TextField
        label="Display name"
        required
        maxLength={MAX_LENGTH.displayName}
        {...bind('displayName')}
        problem={typed.displayName.trim() === '' ? 'It needs a name.' : undefined}
      />
      <TextField
        label="Model id at its server"
        isCode
        required
        autoCapitalize="none"
        spellCheck={false}
        maxLength={MAX_LENGTH.upstreamModelId}
        {...bind('upstreamModelId')}
        problem={
          typed.upstreamModelId.trim() === ''
            ? 'The model needs its name at the server.'
            : undefined
        }
      />
      {fillsInTheMiddle(model.dialect) && <FimFields chosen={typed} onChange={change} />}
      {hasCredentialHeaderField(model.dialect, typed.credentialHeader) && (
        <CredentialHeaderField
          chosen={typed.credentialHeader}
          onChoose={(credentialHeader) => change({ credentialHeader })}
        />
      )}
      <PriceFields prices={typed} onChange={change} isRegistering={false} />
      <EditNotes thing="model" edited={edited} save={save} onSeen={store} />
      <LeaveGuard isDirty={isChanged || bringBack !== undefined} />
      <div className="flex justify-end gap-2">
        {isChanged && (
          <Button
            onClick={() => {
              begin(model)
              save.reset()
            }}
          >
            Discard
          </Button>
        )}
        <Button look="primary" type="submit" isBusy={save.isPending} disabled={!canSave}>
          Save
        </Button>
      </div>
    </Form>
  )
}
