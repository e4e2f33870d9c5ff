/** A gate's last 7 days: traffic, cost, errors and callers. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operationQuery } from '../../api/operation-query.ts'
import { type ResolvedRange, resolveRange } from '../../format/time-range.ts'
import { ErrorsCard } from '../../ui/errors-card.tsx'
import { GroupCard } from '../../ui/group-card.tsx'
import { LimitNotices } from '../../ui/limit-notices.tsx'
import { RefusedCalls } from '../../ui/refused-calls.tsx'
import { UsageCard } from '../../ui/usage-card.tsx'
import { useExhausted } from '../../ui/use-exhausted.ts'

export function GateTraffic({ gateId }: { readonly gateId: string }) {
  const [range] = useState(() => resolveRange({ range: '7d' }, Date.now()))
  const exhausted = useExhausted('gate').filter(({ of }) => of === gateId)
  const sums = useQuery(
    operationQuery('GET /v1/analytics', {
      query: {
        gate: gateId,
        from: new Date(range.current.fromMs).toISOString(),
        to: new Date(range.current.toMs).toISOString(),
        ...{ interval: 'all', percentiles: false },
      },
    }),
  )
  const wasCalled = (sums.data?.data[0]?.calls ?? 0) > 0
  return (
    <>
      <LimitNotices exhausted={exhausted} />
      {wasCalled && <Traffic gateId={gateId} range={range} />}
    </>
  )
}

function Traffic({ gateId, range }: { readonly gateId: string; readonly range: ResolvedRange }) {
  const filters = { gate: gateId }
  const cards = { filters, range, order: 'cost' } as const
  return (
    <>
      <UsageCard filters={filters} range={range} />
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-6">
          <GroupCard by="key" {...cards} />
          <ErrorsCard filters={filters} period={range.current} />
          <RefusedCalls period={range.current} filters={filters} />
        </div>
        <GroupCard by="user" {...cards} />
      </div>
    </>
  )
}
