import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../api/operation-query.ts'
import { formatWhole } from '../format/figures.ts'
import { nameOfGroup } from '../format/group-name.ts'
import type { ResolvedRange } from '../format/time-range.ts'
import { COST, ERRORS } from '../format/usage-measures.ts'
import { Card, CardHeader } from './card.tsx'
import { PageLink } from './links.tsx'
import { QueryBoundary } from './query-boundary.tsx'
import { Table, Th } from './table.tsx'
import type { SumFilters } from './usage-card.tsx'

const SHOWN = 10
/** Calls that named no existing gate. */
const UNKNOWN_GATE = '(unknown)'

const HEADINGS = {
  gate: ['Gates used', 'Gate'],
  target: ['Models used', 'Model'],
  key: ['Tokens and keys', 'Name'],
  user: ['People', 'Name'],
} as const

const PATHS = { gate: '/gates', key: '/keys', user: '/people' } as const

/** The groups with most calls or the highest cost among the calls that the filters choose. */
export function GroupCard({
  filters,
  by,
  order,
  range: { current },
}: {
  readonly filters: SumFilters
  readonly by: keyof typeof HEADINGS
  readonly order: 'calls' | 'cost'
  readonly range: ResolvedRange
}) {
  const [title, heading] = HEADINGS[by]
  const sums = useQuery({
    ...operationQuery('GET /v1/analytics', {
      query: {
        from: new Date(current.fromMs).toISOString(),
        to: new Date(current.toMs).toISOString(),
        ...filters,
        ...{ interval: 'all', group_by: by, order, limit: SHOWN, percentiles: false },
      },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <Card className="min-w-0">
      <CardHeader title={title} />
      <QueryBoundary query={sums}>
        {({ data, onlyUser }) => {
          const used = data.filter(({ group, isRest }) => group !== null || isRest)
          return (
            <>
              {used.length === 0 ? (
                <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
                  {onlyUser === null ? 'No calls in this range' : 'No calls of yours in this range'}
                </p>
              ) : (
                <Table
                  label={title}
                  head={
                    <>
                      <Th>{heading}</Th>
                      <Th isNumber>Calls</Th>
                      <Th isNumber>Errors</Th>
                      <Th isNumber>Cost</Th>
                    </>
                  }
                >
                  {used.map((sum) => (
                    <tr key={sum.group ?? 'rest'}>
                      <td className="min-w-24 wrap-anywhere">
                        <GroupName sum={sum} by={by} />
                      </td>
                      <td className="text-right tabular-nums">{formatWhole(sum.calls)}</td>
                      <td className="text-right tabular-nums">{formatWhole(ERRORS.read(sum))}</td>
                      <td className="text-right tabular-nums">{COST.format(COST.read(sum))}</td>
                    </tr>
                  ))}
                </Table>
              )}
              {onlyUser !== null && (
                <p className="border-t border-line px-5 py-2.5 text-[13px] text-ink-faint">
                  Figures of other people are hidden.
                </p>
              )}
            </>
          )
        }}
      </QueryBoundary>
    </Card>
  )
}

function GroupName({
  sum: { group, name },
  by,
}: {
  readonly sum: { readonly group: string | null; readonly name: string | null }
  readonly by: keyof typeof HEADINGS
}) {
  if (group === null) return 'All others'
  if (group === UNKNOWN_GATE) return 'no such gate'
  const text = nameOfGroup({ group, name }, by)
  if (by === 'target') return <span className="font-mono text-[13px]">{text}</span>
  return (
    <PageLink
      to={`${PATHS[by]}/${encodeURIComponent(group)}`}
      className={by === 'gate' ? 'font-mono text-[13px]' : 'text-[13px]'}
    >
      {text}
    </PageLink>
  )
}
