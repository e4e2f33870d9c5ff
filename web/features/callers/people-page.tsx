/** Everyone who called in a range, a page at a time. */
import { keepPreviousData, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download, Users } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { UsageSumBody } from '../../../src/contract/analytics.ts'
import { toUsageCsv } from '../../../src/contract/csv.ts'
import { askAllGroups } from '../../api/all-groups.ts'
import { askWith } from '../../api/ask.ts'
import { useMemberEmails } from '../../api/member-emails.ts'
import { formatShare, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { nameOfUser } from '../../format/group-name.ts'
import { parseRangeChoice, type RangeChoice, resolveRange } from '../../format/time-range.ts'
import { formatDate } from '../../format/times.ts'
import { COST, ERRORS, TOKENS } from '../../format/usage-measures.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { downloadText } from '../../ui/download-text.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Page } from '../../ui/page.tsx'
import { PagedRows } from '../../ui/paged-rows.tsx'
import { PeopleHiddenNote } from '../../ui/people-hidden-note.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import { type Column, ColumnTable } from '../../ui/table.tsx'
import { useSeenPeople } from '../../ui/use-seen-people.ts'

const nameOf = ({ group, name }: UsageSumBody) =>
  group === null ? 'No person is known' : nameOfUser(group, name)

const AT_ONCE = 100

const ORDERS = [
  ['cost', 'Highest cost first'],
  ['calls', 'Most calls first'],
  ['tokens', 'Most tokens first'],
  ['errors', 'Most errors first'],
] as const

export function PeoplePage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const choice = parseRangeChoice(search)
  const navigate = useNavigate()
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to: '.', search: { ...search, ...next }, replace: true })
  const order = ORDERS.find(([name]) => name === search.order)?.[0] ?? 'cost'
  const [typed, setTyped] = useState('')
  const sought = useLater(typed.trim(), TYPING_PAUSE_MS) || undefined
  const { current } = resolveRange(choice, Date.now())
  const query = {
    from: new Date(current.fromMs).toISOString(),
    to: new Date(current.toMs).toISOString(),
    ...({ interval: 'all', group_by: 'user' } as const),
    order,
  }
  const asked = { ...query, search: sought, limit: AT_ONCE }
  const pages = useInfiniteQuery({
    queryKey: ['GET /v1/analytics', 'people', asked],
    queryFn: ({ pageParam, signal }) =>
      askWith('GET /v1/analytics', { signal }, { query: { ...asked, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
  const sums = pages.data?.pages.flatMap(({ data }) => data).filter(({ isRest }) => !isRest) ?? []
  const people = sums.filter(({ group }) => group !== null)
  const emails = useMemberEmails(people.map(({ group }) => group ?? ''))
  const isLimited = useSeenPeople()?.seesAll === false
  const unknown = sums.find(({ group }) => group === null)
  const download = useMutation({
    mutationFn: async () => {
      const days = [current.fromMs, current.toMs - 1].map((ms) => new Date(ms).toISOString())
      const name = days.map((day) => day.slice(0, 10)).join('-')
      // Calls without a person have a row, so that the file adds up to the total.
      const all = await askAllGroups(query)
      downloadText(toUsageCsv(all, { by: 'user', nameOf }), `gatehouse-people-${name}.csv`)
    },
  })
  return (
    <Page
      title="People"
      note="Members, and the users that applications name, with the cost of their calls."
      actions={<RangePicker choice={choice} onChoose={(chosen) => change({ ...chosen })} />}
    >
      <PeopleHiddenNote />
      <Card>
        <CardHeader
          title="Who spent"
          {...(unknown !== undefined && {
            note: `${formatWhole(unknown.calls)} ${unknown.calls === 1 ? 'call' : 'calls'} for ${COST.format(COST.read(unknown))} ${unknown.calls === 1 ? 'has' : 'have'} no known person.`,
          })}
        >
          <Button
            size="small"
            disabled={people.length === 0}
            isBusy={download.isPending}
            onClick={() => download.mutate()}
          >
            <Download aria-hidden className="size-3.5" />
            CSV
          </Button>
        </CardHeader>
        <div className="flex flex-wrap items-center gap-3 border-b border-line px-5 py-3">
          <SearchField label="Find a person" value={typed} onChange={setTyped} />
          <select
            aria-label="Order"
            value={order}
            onChange={({ target }) => change({ order: target.value })}
            className={`${CONTROL_CLASS} h-9 !w-auto !text-[13px]`}
          >
            {ORDERS.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <QueryBoundary query={pages} failed={SumsError}>
          {() =>
            people.length === 0 ? (
              sought === undefined ? (
                <EmptyState
                  icon={<Users />}
                  title={
                    isLimited
                      ? 'No call in this range is yours'
                      : 'No person is known in this range'
                  }
                >
                  A call counts for the owner of its access token, for a member in the playground,
                  or for the user that it names.
                </EmptyState>
              ) : (
                <EmptyState title="No person matches">
                  The search looks at names, ids and whole e-mail addresses.
                </EmptyState>
              )
            ) : (
              <PagedRows pages={pages} count={people.length}>
                <ColumnTable
                  label="People"
                  rows={people}
                  keyOf={({ group }) => group ?? ''}
                  columns={listColumns(choice, emails)}
                />
              </PagedRows>
            )
          }
        </QueryBoundary>
      </Card>
    </Page>
  )
}

const TYPING_PAUSE_MS = 250

/** The value once it has not changed for the time. */
function useLater(value: string, pauseMs: number): string {
  const [later, setLater] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return later
}

function listColumns(
  choice: RangeChoice,
  emails: ReadonlyMap<string, string>,
): readonly Column<UsageSumBody>[] {
  const figure = (title: string, cell: (sum: UsageSumBody) => string): Column<UsageSumBody> => ({
    ...{ title, cell, className: 'max-sm:text-left', isNumber: true, isLabelled: true },
  })
  return [
    {
      title: 'Name',
      className: 'min-w-40 wrap-anywhere',
      cell: (sum) => (
        <>
          <PageLink to={`/people/${encodeURIComponent(sum.group ?? '')}`} search={{ ...choice }}>
            {nameOf(sum)}
          </PageLink>
          <span className="block text-xs text-ink-faint">{emails.get(sum.group ?? '')}</span>
        </>
      ),
    },
    figure('Cost', (sum) => COST.format(COST.read(sum))),
    figure('Calls', (sum) => formatWhole(sum.calls)),
    figure('Errors', (sum) => formatWhole(ERRORS.read(sum))),
    figure('Tokens', (sum) => TOKENS.format(TOKENS.read(sum))),
    figure('Cached', (sum) => formatShare(sum.tokens.cachedInput / sum.tokens.input)),
    figure('Last day', ({ lastDay }) =>
      lastDay === null ? NOT_KNOWN : formatDate(lastDay, 'utc'),
    ),
  ]
}
