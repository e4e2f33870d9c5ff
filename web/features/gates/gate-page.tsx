import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeft, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { ask } from '../../api/ask.ts'
import { operationQuery, refresh } from '../../api/operation-query.ts'
import { formatWhole } from '../../format/figures.ts'
import { arrangeByFit } from '../../format/format-fit.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { SnippetTabs } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { FusedStops } from '../../ui/fused-stops.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { callSnippets, KEY_VARIABLE, type SnippetFamily } from '../../ui/snippets.ts'
import { describeError } from '../../ui/states.tsx'
import { toast, UNDO_MS } from '../../ui/toast.ts'
import { UnpricedCalls } from '../../ui/unpriced-notice.tsx'
import { useChange } from '../../ui/use-change.ts'
import { NO_TARGET_TAKES_IT, useFormatFit } from '../../ui/use-format-fit.ts'
import type { Gate } from './gate-draft.ts'
import { GateEditor } from './gate-editor.tsx'
import { FallbackNotice } from './gate-fallback.tsx'
import { GateTest } from './gate-test.tsx'
import { GateTraffic } from './gate-traffic.tsx'
import { useRecentCalls } from './use-recent-calls.ts'

const route = getRouteApi('/shell/gates/$gateId')

const PARTS = [
  { id: undefined, label: 'Edit' },
  { id: 'test', label: 'Test' },
  { id: 'snippets', label: 'Snippets' },
] as const

export function GatePage() {
  const { gateId } = route.useParams()
  const gate = useQuery(operationQuery('GET /v1/gates/{id}', { path: { id: gateId } }))
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Page
      title={gateId}
      note={gate.data && describeGate(gate.data)}
      actions={
        gate.data !== undefined && (
          <>
            <CopyButton text={gateId} label="Copy the id" isIcon={false} />
            <Button look="danger" onClick={() => setDeleting(true)}>
              <Trash2 aria-hidden className="size-4" />
              Delete
            </Button>
          </>
        )
      }
    >
      <nav
        aria-label="Parts of the gate"
        className="-mt-2 flex items-center gap-1 border-b border-line"
      >
        <Link
          to="/gates"
          className="mr-2 flex items-center gap-1 py-2 text-[13px] text-ink-faint hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-3.5" />
          Gates
        </Link>
        {gate.data !== undefined && PARTS.map((part) => <PartLink key={part.label} {...part} />)}
      </nav>
      {gate.data === undefined ? (
        <Card>
          <QueryBoundary query={gate}>{() => null}</QueryBoundary>
        </Card>
      ) : (
        <GateParts key={gateId} gate={gate.data} />
      )}
      {gate.data !== undefined && (
        <DeleteGateDialog gate={gate.data} isOpen={isDeleting} onClose={() => setDeleting(false)} />
      )}
    </Page>
  )
}

function describeGate({ id, displayName, description }: Gate): ReactNode {
  if (displayName === id || displayName === '') return description || undefined
  return (
    <>
      <bdi>{displayName}</bdi>
      {description !== '' && ` – ${description}`}
    </>
  )
}

function PartLink({ id, label }: (typeof PARTS)[number]) {
  const { tab } = route.useSearch()
  const { gateId } = route.useParams()
  const isCurrent = tab === id
  return (
    <Link
      to="/gates/$gateId"
      params={{ gateId }}
      search={id === undefined ? {} : { tab: id }}
      aria-current={isCurrent ? 'page' : undefined}
      className={classNames(
        '-mb-px border-b-2 px-3 py-2 text-[13px] font-medium',
        isCurrent ? 'border-accent text-ink' : 'border-transparent text-ink-faint hover:text-ink',
      )}
    >
      {label}
    </Link>
  )
}

function GateParts({ gate }: { readonly gate: Gate }) {
  const { tab } = route.useSearch()
  const [isDirty, setDirty] = useState(false)
  return (
    <>
      <FusedStops
        owner={{ type: 'gate', id: gate.id }}
        title="Stopped by the fuse"
        note="Calls of these sessions and users are refused on this gate until the stop is lifted."
      />
      <FallbackNotice gateId={gate.id} />
      <UnpricedCalls gate={gate.id} />
      {tab === undefined && <GateTraffic gateId={gate.id} />}
      {/* Hidden and not removed while another tab is shown, so that typed text is kept. */}
      <div hidden={tab !== undefined}>
        <GateEditor gate={gate} onDirty={setDirty} />
      </div>
      {tab === 'test' && <GateTest gate={gate} hasUnsaved={isDirty} />}
      {tab === 'snippets' && <GateSnippets gate={gate} />}
    </>
  )
}

function DeleteGateDialog({
  gate,
  isOpen,
  onClose,
}: {
  readonly gate: Gate
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const restore = async () => {
    try {
      const { createdAt: _, updatedAt: __, resolvedFacts: ___, ...body } = gate
      await ask('POST /v1/gates', { body })
      await refresh(queryClient, 'GET /v1/gates', 'GET /v1/gates/{id}', 'GET /v1/targets/health')
      toast('success', `Gate “${gate.id}” created again`, {
        description: 'The gate has all its previous settings.',
      })
    } catch (error) {
      toast('error', `Gate “${gate.id}” could not be created again`, {
        description: describeError(error),
      })
    }
  }
  const remove = useChange({
    send: () => ask('DELETE /v1/gates/{id}', { path: { id: gate.id } }),
    onAnswer: async () => {
      onClose()
      // Leaves first, so that the page does not report its gate as missing.
      await navigate({ to: '/gates', ignoreBlocker: true })
    },
    makesStale: ['GET /v1/gates', 'GET /v1/targets/health'],
    done: [
      `Gate “${gate.id}” deleted`,
      {
        description: 'Calls that name the deleted gate are refused from now on.',
        action: { label: 'Undo', run: () => void restore() },
        durationMs: UNDO_MS,
      },
    ],
  })
  return (
    <ConfirmChange
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete “${gate.id}”?`}
      confirmLabel="Delete the gate"
      change={remove}
    >
      <p>The deletion takes effect at once. The gate’s calls stay in the log.</p>
      <RecentUse gateId={gate.id} />
    </ConfirmChange>
  )
}

function RecentUse({ gateId }: { readonly gateId: string }) {
  const { calls } = useRecentCalls()(gateId)
  if (calls === undefined) return <p className="mt-2">Looking up what uses it…</p>
  if (calls === 0)
    return <p className="mt-2">No calls were made through the gate in the last 24 hours.</p>
  return (
    <p className="mt-2 rounded-lg bg-warn-soft px-3 py-2 text-warn">
      <strong className="font-semibold">
        {formatWhole(calls)} {calls === 1 ? 'call' : 'calls'}
      </strong>{' '}
      went through the gate in the last 24 hours. Such calls will fail with status 404.
    </p>
  )
}

function GateSnippets({ gate }: { readonly gate: Gate }) {
  const fitOf = useFormatFit(gate.targets.map(({ model }) => model))
  const snippets = arrangeByFit(callSnippets({ baseUrl: location.origin, gateId: gate.id }), fitOf)
  const families = [...new Set(snippets.map(({ family }) => family))]
  const [family, setFamily] = useState<SnippetFamily>('curl')
  const shown = snippets.filter((snippet) => snippet.family === family)
  const installs = [...new Set(shown.flatMap(({ install }) => install ?? []))]
  return (
    <Card>
      <CardHeader
        title="Snippets"
        note={
          <>
            The snippets read the key from <code className="font-mono text-xs">{KEY_VARIABLE}</code>
            ; create one under{' '}
            <Link to="/keys" className="text-accent underline">
              Tokens and API Keys
            </Link>
            .
          </>
        }
      />
      <div className="flex flex-col gap-4 p-5">
        <fieldset className="flex flex-wrap gap-1.5">
          <legend className="sr-only">SDK</legend>
          {families.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === family}
              onClick={() => setFamily(name)}
              className={classNames(
                'h-8 rounded-lg border px-3 text-[13px] font-medium',
                name === family
                  ? 'border-accent bg-accent-soft text-accent-strong'
                  : 'border-line-strong text-ink-soft hover:bg-sunken',
              )}
            >
              {name}
            </button>
          ))}
        </fieldset>
        {installs.length > 0 && (
          <ul aria-label="What to install" className="-my-1 flex flex-wrap gap-x-6 gap-y-1">
            {installs.map((install) => (
              <li key={install} className="flex items-center gap-1">
                <code className="font-mono text-[13px] text-ink-soft">{install}</code>
                <CopyButton text={install} label={`Copy ${install}`} />
              </li>
            ))}
          </ul>
        )}
        <SnippetTabs
          key={family}
          label={family}
          snippets={shown.map((snippet) => ({
            name: snippet.variant,
            code: snippet.code,
            isOff: snippet.fit === 'none',
            note: snippet.fit === 'none' && (
              <p className="bg-warn-soft px-4 py-2 text-[13px] text-warn">{NO_TARGET_TAKES_IT}</p>
            ),
          }))}
        />
      </div>
    </Card>
  )
}
