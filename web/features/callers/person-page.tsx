/** One person: spend over time, models, gates, tokens, errors and sessions. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemberEmails } from '../../api/member-emails.ts'
import { parseRangeChoice, resolveRange } from '../../format/time-range.ts'
import { COST } from '../../format/usage-measures.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ErrorsCard } from '../../ui/errors-card.tsx'
import { GroupCard } from '../../ui/group-card.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Page } from '../../ui/page.tsx'
import { PeopleHiddenNote } from '../../ui/people-hidden-note.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RowSkeletons } from '../../ui/states.tsx'
import { UsageCard } from '../../ui/usage-card.tsx'
import { useSeenPeople } from '../../ui/use-seen-people.ts'
import { useUserName } from '../../ui/use-user-name.ts'
import { EndUserCard } from './end-user-card.tsx'
import { PersonBudgets } from './person-budgets.tsx'
import { SessionTable } from './session-table.tsx'

const SESSIONS_AT_ONCE = 10

export function PersonPage() {
  const { user } = useParams({ from: '/shell/people/$user' })
  const seen = useSeenPeople()
  if (seen?.seesAll === true || seen?.self === user)
    return <Person user={user} mayErase={seen.isOwner && user.startsWith('end:')} />
  return (
    <Page title="Person" note={<code className="font-mono text-[13px]">{user}</code>}>
      {seen === undefined ? <RowSkeletons /> : <PeopleHiddenNote />}
    </Page>
  )
}

function Person({ user, mayErase }: { readonly user: string; readonly mayErase: boolean }) {
  const choice = parseRangeChoice(useSearch({ strict: false }))
  const navigate = useNavigate()
  const range = resolveRange(choice, Date.now())
  const name = useUserName(user)
  const email = useMemberEmails([user]).get(user)
  const filters = { user }
  const cards = { filters, range, order: 'cost' } as const
  return (
    <Page
      title={name}
      note={
        <>
          {email !== undefined && `${email} · `}
          <code className="font-mono text-[13px]">{user}</code>
        </>
      }
      actions={
        <RangePicker
          choice={choice}
          onChoose={(search) => void navigate({ to: '.', search: { ...search }, replace: true })}
        />
      }
    >
      <UsageCard filters={filters} range={range} first={COST} />
      <PersonBudgets user={user} name={name} />
      <div className="grid gap-6 lg:grid-cols-2">
        <GroupCard by="target" {...cards} />
        <GroupCard by="gate" {...cards} />
        <GroupCard by="key" {...cards} />
        <ErrorsCard filters={filters} period={range.current} />
      </div>
      <Card className="min-w-0">
        <CardHeader title="Sessions">
          <PageLink to="/sessions" search={{ ...choice, user }} className="text-[13px]">
            All
          </PageLink>
        </CardHeader>
        <SessionTable
          query={{ user, order: 'cost' }}
          period={range.current}
          atOnce={SESSIONS_AT_ONCE}
        />
      </Card>
      {mayErase && <EndUserCard user={user} name={name} />}
    </Page>
  )
}
