/** The sessions of coding agents and applications. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
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

const SEARCHED = [
  ['session', 'Session id or hash, then Enter', 'Session id, then Enter'],
  ['user', 'User: name, e-mail address or end:NAME, then Enter', 'User, then Enter'],
] as const

export function SessionsPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const choice = parseRangeChoice(search)
  const navigate = useNavigate()
  const order = ORDERS.find(([name]) => name === search.order)?.[0] ?? 'last'
  const { user, key, session } = search
  const query: SessionQuery = { user, key, session, order }
  const userName = useUserName(user)
  const keys = useKeysAndTokens().data ?? []
  const [typed, setTyped] = useState({ session: session ?? '', user: user ?? '' })
  const hasUnlistedKey = key !== undefined && !keys.some(({ id }) => id === key)
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to: '.', search: { ...search, ...next }, replace: true })
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
            change({ session: typed.session || undefined, user: typed.user || undefined })
          }}
        >
          {SEARCHED.map(([name, label, example]) => (
            <SearchField
              key={name}
              label={label}
              placeholder={example}
              value={typed[name]}
              onChange={(text) => {
                setTyped((before) => ({ ...before, [name]: text }))
                if (text === '') change({ [name]: undefined })
              }}
            />
          ))}
          {/* Enter sends a form with several fields only if the form has a button. */}
          <button type="submit" className="sr-only" tabIndex={-1}>
            Apply
          </button>
          <select
            aria-label="Token or key"
            value={key ?? ''}
            onChange={({ target }) => change({ key: target.value || undefined })}
            className={`${CONTROL_CLASS} h-9 !w-auto max-w-56 !text-[13px]`}
          >
            <option value="">Any token or key</option>
            {hasUnlistedKey && <option value={key}>{key}</option>}
            {keys.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
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
          {user !== undefined && (
            <Button
              size="small"
              look="quiet"
              type="button"
              onClick={() => {
                setTyped((before) => ({ ...before, user: '' }))
                change({ user: undefined })
              }}
            >
              {`Remove the filter user ${userName}`}
            </Button>
          )}
        </form>
        <SessionTable query={query} period={resolveRange(choice, Date.now()).current} />
      </Card>
    </Page>
  )
}
