/** One owned model: what it is, what can be changed of it, its credential, and who uses it. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { formatDialect } from '../../format/dialects.ts'
import { gatesWithTarget } from '../../format/gate-targets.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { DeleteOwnedModelDialog } from './delete-owned-model-dialog.tsx'
import { callAddress } from './dialect-field.tsx'
import type { FimEndpoint, OwnedModel } from './draft.ts'
import { EditForm } from './edit-form.tsx'
import { isUnderWay, LastCallNote, ProbeNote } from './probe-note.tsx'
import { RotateCredentialDialog } from './rotate-credential-dialog.tsx'
import { UseInGate } from './use-in-gate.tsx'
import { useLastCalls } from './use-last-calls.ts'

/** While the model is being asked, or loaded. */
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
          Encrypted. A new one is tried at once, and kept whether or not the model answers to it.
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

/** The one that was set, else the one that was found. */
function fimEndpointOf({ fimEndpoint, probe }: OwnedModel): FimEndpoint {
  return fimEndpoint === 'auto' ? (probe?.found?.fimEndpoint ?? fimEndpoint) : fimEndpoint
}

function FixedCard({
  model,
  users,
}: {
  readonly model: OwnedModel
  /** Undefined: not known. */
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

// Says whether the model answered the last time, to a call or to a probe, and asks it again.

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
          <p>It was not asked yet by this version of the gateway.</p>
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
        {isUnderWay(probe) && <p>This page shows what is found.</p>}
        <ProblemNote error={check.error} />
      </div>
    </Card>
  )
}
