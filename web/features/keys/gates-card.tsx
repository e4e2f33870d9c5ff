import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../api/operation-query.ts'
import { formatWhole } from '../../format/figures.ts'
import type { ResolvedRange } from '../../format/time-range.ts'
import { COST, ERRORS } from '../../format/usage-measures.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PageLink } from '../../ui/links.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Table, Th } from '../../ui/table.tsx'

const SHOWN = 10
/** Calls that named no existing gate. */
const UNKNOWN_GATE = '(unknown)'

export function GatesCard({
  keyId,
  range: { current },
}: {
  readonly keyId: string
  readonly range: ResolvedRange
}) {
  const sums = useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: {
        from: new Date(current.fromMs).toISOString(),
        to: new Date(current.toMs).toISOString(),
        ...{ key: keyId, interval: 'all', group_by: 'gate', order: 'calls', limit: SHOWN },
      },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <Card className="min-w-0">
      <CardHeader title="Gates used" />
      <QueryBoundary query={sums}>
        {({ data }) => {
          const used = data.filter(({ group, isRest }) => group !== null || isRest)
          return used.length === 0 ? (
            <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
              No calls in this range
            </p>
          ) : (
            <Table
              label="Gates used"
              head={
                <>
                  <Th>Gate</Th>
                  <Th isNumber>Calls</Th>
                  <Th isNumber>Errors</Th>
                  <Th isNumber>Cost</Th>
                </>
              }
            >
              {used.map((sum) => (
                <tr key={sum.group ?? 'rest'}>
                  <td className="min-w-24 wrap-anywhere">
                    {sum.group === null ? (
                      'All others'
                    ) : sum.group === UNKNOWN_GATE ? (
                      'no such gate'
                    ) : (
                      <PageLink to={`/gates/${sum.group}`} className="font-mono text-[13px]">
                        {sum.group}
                      </PageLink>
                    )}
                  </td>
                  <td className="text-right tabular-nums">{formatWhole(sum.calls)}</td>
                  <td className="text-right tabular-nums">{formatWhole(ERRORS.read(sum))}</td>
                  <td className="text-right tabular-nums">{COST.format(COST.read(sum))}</td>
                </tr>
              ))}
            </Table>
          )
        }}
      </QueryBoundary>
    </Card>
  )
}
