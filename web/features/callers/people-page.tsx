/** Everyone who called in a range, the highest cost first. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download, Users } from 'lucide-react'
import type { UsageSumBody } from '../../../src/contract/analytics.ts'
import { toUsageCsv } from '../../../src/contract/csv.ts'
import { askAllGroups } from '../../api/all-groups.ts'
import { formatShare, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { nameOfUser } from '../../format/group-name.ts'
import { parseRangeChoice, type RangeChoice, resolveRange } from '../../format/time-range.ts'
import { formatDate } from '../../format/times.ts'
import { COST, ERRORS, TOKENS } from '../../format/usage-measures.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { downloadText } from '../../ui/download-text.ts'
import { PageLink } from '../../ui/links.tsx'
import { Page } from '../../ui/page.tsx'
import { PeopleHiddenNote } from '../../ui/people-hidden-note.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { SumsError } from '../../ui/sums-error.tsx'
import type { Column } from '../../ui/table.tsx'
import { useSeenPeople } from '../../ui/use-seen-people.ts'

const nameOf = ({ group, name }: UsageSumBody) => nameOfUser(group ?? '', name)

export function PeoplePage() {
  const choice = parseRangeChoice(useSearch({ strict: false }))
  const navigate = useNavigate()
  const { current } = resolveRange(choice, Date.now())
  const query = {
    from: new Date(current.fromMs).toISOString(),
    to: new Date(current.toMs).toISOString(),
    ...({ interval: 'all', group_by: 'user', order: 'cost' } as const),
  }
  const sums = useQuery({
    queryKey: ['GET /v1/analytics', 'people', query],
    queryFn: () => askAllGroups(query),
    placeholderData: keepPreviousData,
  })
  const people = sums.data?.filter(({ group }) => group !== null) ?? []
  const isLimited = useSeenPeople()?.seesAll === false
  const unknown = sums.data?.find(({ group }) => group === null)
  const download = useMutation({
    mutationFn: async () => {
      const days = [current.fromMs, current.toMs - 1].map((ms) => new Date(ms).toISOString())
      const name = days.map((day) => day.slice(0, 10)).join('-')
      downloadText(toUsageCsv(people, { by: 'user', nameOf }), `gatehouse-people-${name}.csv`)
    },
  })
  return (
    <Page
      title="People"
      note="Members, and the users that applications name, by what their calls cost."
      actions={
        <RangePicker
          choice={choice}
          onChoose={(search) => void navigate({ to: '.', search: { ...search }, replace: true })}
        />
      }
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
        <QueryBoundary query={sums} failed={SumsError}>
          {() =>
            people.length === 0 ? (
              <EmptyState
                icon={<Users />}
                title={
                  isLimited ? 'No call in this range is yours' : 'No person is known in this range'
                }
              >
                A call counts for the owner of its access token, for a member in the playground, or
                for the user that it names.
              </EmptyState>
            ) : (
              <SearchedTable
                label="People"
                thing="person"
                rows={people}
                textOf={nameOf}
                searched="The search looks at names."
                keyOf={({ group }) => group ?? ''}
                columns={listColumns(choice)}
              />
            )
          }
        </QueryBoundary>
      </Card>
    </Page>
  )
}

function listColumns(choice: RangeChoice): readonly Column<UsageSumBody>[] {
  const figure = (title: string, cell: (sum: UsageSumBody) => string): Column<UsageSumBody> => ({
    ...{ title, cell, className: 'max-sm:text-left', isNumber: true, isLabelled: true },
  })
  return [
    {
      title: 'Name',
      className: 'min-w-40 wrap-anywhere',
      cell: (sum) => (
        <PageLink to={`/people/${encodeURIComponent(sum.group ?? '')}`} search={{ ...choice }}>
          {nameOf(sum)}
        </PageLink>
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
