/** Everything the overview tells of a range. */
import { useCallerNames } from '../../api/caller-names.ts'
import type { RangeChoice, ResolvedRange } from '../../format/time-range.ts'
import { LimitNotices, useExhausted } from '../../ui/limit-notices.tsx'
import { RefusedCalls } from '../../ui/refused-calls.tsx'
import { QuotaCard } from './quota-card.tsx'
import { TopList } from './top-list.tsx'
import { UsageBoard } from './usage-board.tsx'

export function AccountUsage({
  choice,
  range,
  everyMs,
}: {
  readonly choice: RangeChoice
  readonly range: ResolvedRange
  readonly everyMs: number | false
}) {
  const nameKey = useCallerNames()
  const shared = { range, choice, everyMs }
  return (
    <>
      <LimitNotices exhausted={useExhausted('account', everyMs)} />
      <UsageBoard range={range} everyMs={everyMs} />
      <div className="grid gap-6 xl:grid-cols-3">
        <TopList title="Top gates" groupBy="gate" {...shared} />
        <TopList title="Top targets" groupBy="target" {...shared} />
        <TopList title="Top keys" groupBy="key" {...shared} nameOf={nameKey} />
      </div>
      <RefusedCalls period={range.current} everyMs={everyMs} />
      <QuotaCard everyMs={everyMs} />
    </>
  )
}
