/** The sessions of coding agents and applications. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { parseRangeChoice, resolveRange } from '../../format/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useUserName } from '../../ui/use-user-name.ts'
import { type SessionQuery, SessionTable } from './session-table.tsx'

const ORDERS = [
  ['last', 'Latest first'],
  ['cost', 'Highest cost first'],
  ['calls', 'Most calls first'],
  ['tokens', 'Most tokens first'],
] as const

export function SessionsPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const choice = parseRangeChoice(search)
  const navigate = useNavigate()
  const order = ORDERS.find(([name]) => name === search.order)?.[0] ?? 'last'
  const { user, key, session } = search
  const query: SessionQuery = { user, key, session, order }
  const userName = useUserName(user)
  const [typed, setTyped] = useState(session ?? '')
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to: '.', search: { ...search, ...next }, replace: true })
  const filters = [
    ...(user === undefined ? [] : [['user', userName] as const]),
    ...(key === undefined ? [] : [['key', key] as const]),
  ]
  return (
    <Page
      title="Sessions"
      note="Sessions whose last call is in the range. The figures count all calls of a session."
      actions={<RangePicker choice={choice} onChoose={(chosen) => change({ ...chosen })} />}
    >
      <Card className="min-w-0">
        <form
          noValidate
          className="flex flex-wrap items-center gap-3 border-b border-line px-5 py-3"
          onSubmit={(event) => {
            event.preventDefault()
            change({ session: typed === '' ? undefined : typed })
          }}
        >
          <SearchField
            label="Session id or hash, then Enter"
            value={typed}
            onChange={(text) => {
              setTyped(text)
              if (text === '') change({ session: undefined })
            }}
          />
          <select
            aria-label="Order"
            value={order}
            onChange={(event) => change({ order: event.target.value })}
            className={`${CONTROL_CLASS} h-9 !w-auto !text-[13px]`}
          >
            {ORDERS.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
          {filters.map(([name, shown]) => (
            <Button
              key={name}
              size="small"
              look="quiet"
              type="button"
              onClick={() => change({ [name]: undefined })}
            >
              {`Remove the filter ${name} ${shown}`}
            </Button>
          ))}
        </form>
        <SessionTable query={query} period={resolveRange(choice, Date.now()).current} />
      </Card>
    </Page>
  )
}
