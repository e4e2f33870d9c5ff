import { Link } from '@tanstack/react-router'
import { Route } from 'lucide-react'
import { memo, useDeferredValue, useState } from 'react'
import type { Exhausted } from '../../format/exhausted.ts'
import { formatCount, formatShare, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { findByWords } from '../../format/find-by-words.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FirstRows } from '../../ui/first-rows.tsx'
import { HealthBadge } from '../../ui/health-badge.tsx'
import { ExhaustedBadge, LimitNotices } from '../../ui/limit-notices.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ResourcePage } from '../../ui/resource-page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useExhausted } from '../../ui/use-exhausted.ts'
import { useSeenSince, useTargetHealth } from '../../ui/use-target-health.ts'
import { type Gate, toDraft, toShares } from './gate-draft.ts'
import { FallbackBadge, useGateFallbacks } from './gate-fallback.tsx'
import { type RecentCalls, useRecentCalls } from './use-recent-calls.ts'

export function GatesPage() {
  const seenSince = useSeenSince()
  return (
    <ResourcePage
      list="GET /v1/gates"
      title="Gates"
      note="Applications name a gate where they named a model. The gate decides which provider answers, and which one steps in when it fails."
      many="gates"
      icon={<Route />}
      purpose="A gate is a name that stands for one or more models. Create one, then put its id where the model name is in your code."
      create={{ label: 'Create a gate', to: '/gates/new' }}
      notices={<LimitNotices exhausted={useExhausted('gate')} />}
      footnote={
        <p className="-mt-2 text-[13px] text-ink-faint">
          Health is what this node has seen of each target since it started
          {seenSince !== undefined && (
            <>
              , <Moment at={seenSince} />
            </>
          )}
          . Calls and errors are those of the last 24 hours; refused calls are no errors. “On
          fallback” is the share of the calls of the last hour or two that another target than the
          first answered.
        </p>
      }
    >
      {(rows) => <SearchedGates gates={rows} />}
    </ResourcePage>
  )
}

function SearchedGates({ gates }: { readonly gates: readonly Gate[] }) {
  const [search, setSearch] = useState('')
  // The field updates at once; the hundreds of rows update afterwards.
  const shownSearch = useDeferredValue(search)
  return (
    <>
      <div className="border-b border-line p-3">
        <SearchField
          label="Search gates"
          placeholder="Search by id, name or target"
          value={search}
          onChange={setSearch}
        />
      </div>
      <FoundGates gates={gates} search={shownSearch} />
    </>
  )
}

const FoundGates = memo(function FoundGates({
  gates,
  search,
}: {
  readonly gates: readonly Gate[]
  readonly search: string
}) {
  const found = findByWords(gates, search, ({ id, displayName, description, targets }) =>
    [id, displayName, description, ...targets.map(({ model }) => model)].join(' '),
  )
  if (found.length > 0)
    return <FirstRows rows={found}>{(shown) => <GateTable gates={shown} />}</FirstRows>
  return (
    <p role="status" className="px-5 py-10 text-center text-sm text-ink-soft">
      No gate matches “{search.trim()}”.
    </p>
  )
})

/** Number of targets shown per gate, so that no gate fills the screen. */
const SHOWN_TARGETS = 4

function GateTable({ gates }: { readonly gates: readonly Gate[] }) {
  const rows = {
    gates,
    healthOf: useTargetHealth(),
    recentOf: useRecentCalls(),
    exhausted: useExhausted('gate'),
    fallbacks: useGateFallbacks(),
  }
  return (
    <>
      <GateCards {...rows} />
      <div className="hidden md:block">
        <GateRows {...rows} />
      </div>
    </>
  )
}

interface GateRowsProps {
  readonly gates: readonly Gate[]
  readonly healthOf: ReturnType<typeof useTargetHealth>
  readonly recentOf: ReturnType<typeof useRecentCalls>
  readonly exhausted: readonly Exhausted[]
  readonly fallbacks: ReturnType<typeof useGateFallbacks>
}

/** For narrow screens, where a table would hide the targets. */
function GateCards({ gates, healthOf, recentOf, exhausted, fallbacks }: GateRowsProps) {
  return (
    <ul aria-label="Gates" className="divide-y divide-line md:hidden">
      {gates.map((gate) => {
        const { calls, errors } = recentOf(gate.id)
        return (
          <li key={gate.id} className="flex flex-col gap-2 overflow-x-auto px-4 py-3.5">
            <GateName gate={gate} />
            <ExhaustedBadge id={gate.id} exhausted={exhausted} />
            <FallbackBadge fallback={fallbacks.get(gate.id)} />
            <GateTargets gate={gate} healthOf={healthOf} />
            <p className="text-[13px] text-ink-faint tabular-nums">
              {gate.strategy} · {formatCount(calls)} {calls === 1 ? 'call' : 'calls'} ·{' '}
              <span className={errors ? 'text-danger' : undefined}>
                {formatCount(errors)} {errors === 1 ? 'error' : 'errors'}
              </span>
            </p>
          </li>
        )
      })}
    </ul>
  )
}

function GateRows({ gates, healthOf, recentOf, exhausted, fallbacks }: GateRowsProps) {
  return (
    <Table
      label="Gates"
      head={
        <>
          <Th>Gate</Th>
          <Th>Strategy</Th>
          <Th>Targets, in order</Th>
          <Th isNumber>Calls</Th>
          <Th isNumber>Errors</Th>
        </>
      }
    >
      {gates.map((gate) => (
        <tr key={gate.id} className="[&>td]:align-top">
          <td className="min-w-48">
            <GateName gate={gate} />
            <ExhaustedBadge id={gate.id} exhausted={exhausted} />
            <FallbackBadge fallback={fallbacks.get(gate.id)} />
          </td>
          <td className="text-ink-soft">{gate.strategy}</td>
          <td className="sm:min-w-80">
            <GateTargets gate={gate} healthOf={healthOf} />
          </td>
          <RecentCells {...recentOf(gate.id)} />
        </tr>
      ))}
    </Table>
  )
}

function GateName({ gate }: { readonly gate: Gate }) {
  return (
    <div>
      <div className="-my-1 flex items-center gap-1">
        <Link
          to="/gates/$gateId"
          params={{ gateId: gate.id }}
          className="font-mono text-[13px] font-medium break-all text-ink hover:text-accent hover:underline"
        >
          {gate.id}
        </Link>
        <CopyButton text={gate.id} label={`Copy the id ${gate.id}`} />
      </div>
      {gate.displayName !== gate.id && (
        <p className="max-w-64 truncate text-[13px] text-ink-faint" title={gate.displayName}>
          {gate.displayName}
        </p>
      )}
    </div>
  )
}

function GateTargets({
  gate,
  healthOf,
}: {
  readonly gate: Gate
  readonly healthOf: ReturnType<typeof useTargetHealth>
}) {
  const shares = gate.strategy === 'weighted' ? toShares(toDraft(gate).targets) : undefined
  const more = gate.targets.length - SHOWN_TARGETS
  return (
    <ol className="flex flex-col gap-1.5">
      {gate.targets.slice(0, SHOWN_TARGETS).map(({ model }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a gate may list a target twice, and the order is fixed
        <li key={index} className="flex items-baseline gap-2">
          <span className="w-9 shrink-0 text-right text-xs text-ink-faint tabular-nums">
            {shares === undefined ? `${index + 1}` : formatShare(shares[index])}
          </span>
          <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
            <code className="font-mono text-[13px] break-all text-ink">{model}</code>
            {healthOf === undefined ? (
              <Skeleton className="h-5 w-20" />
            ) : (
              <HealthBadge health={healthOf(model)} />
            )}
          </div>
        </li>
      ))}
      {more > 0 && <li className="pl-11 text-[13px] text-ink-faint">and {more} more</li>}
    </ol>
  )
}

function RecentCells({ calls, errors }: RecentCalls) {
  return (
    <>
      <td className="text-right text-ink-soft tabular-nums" title={formatWhole(calls)}>
        {formatCount(calls)}
      </td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {errors === undefined || calls === undefined ? (
          NOT_KNOWN
        ) : errors === 0 ? (
          <span className="text-ink-faint">0</span>
        ) : (
          <span className="text-danger">
            {formatCount(errors)}{' '}
            <span className="text-ink-faint">({formatShare(errors / calls)})</span>
          </span>
        )}
      </td>
    </>
  )
}
