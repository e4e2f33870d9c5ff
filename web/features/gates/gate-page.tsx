/** One gate: changed, tried out, put into code. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ArrowLeft, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { operationQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { DeleteGateDialog } from './delete-gate-dialog.tsx'
import type { Gate } from './gate-draft.ts'
import { GateEditor } from './gate-editor.tsx'
import { GateSnippets } from './gate-snippets.tsx'
import { GateTest } from './gate-test.tsx'

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

function describeGate(gate: Gate): string | undefined {
  const name = gate.displayName === gate.id ? '' : gate.displayName
  const text = [name, gate.description].filter((part) => part !== '').join(' – ')
  return text === '' ? undefined : text
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
      {/* Only hidden while another part is shown: what was typed must not be lost. */}
      <div hidden={tab !== undefined}>
        <GateEditor gate={gate} onDirty={setDirty} />
      </div>
      {tab === 'test' && <GateTest gate={gate} hasUnsaved={isDirty} />}
      {tab === 'snippets' && <GateSnippets gate={gate} />}
    </>
  )
}
