import { useQuery } from '@tanstack/react-query'
import { CalendarClock, CirclePlay, CircleStop, Ellipsis, RefreshCw, Trash2 } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { stateOfExpiry } from '../../../src/contract/expiry.ts'
import type { RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { nameZone, type TimeZone } from '../../format/time-zone.ts'
import { formatDate, formatDateTime, formatRemaining } from '../../format/times.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { ExhaustedBadge } from '../../ui/limit-notices.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { Moment } from '../../ui/moment.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { type Stop, StopBadge } from '../../ui/stop-dialogs.tsx'
import { type Column, timeColumn } from '../../ui/table.tsx'
import { useExhausted } from '../../ui/use-exhausted.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { hasExpired, previousOf } from './expiry.ts'
import { type RecentUse, useRecentUse } from './recent-use-note.tsx'

/** An API key, or an access token, whose owner stands for the user. */
export type ApiKey = Omit<RowOf<'GET /v1/keys'>, 'user'>

export function KeyTable<Row extends ApiKey>({
  rows,
  words,
  last,
  phoneNote,
  ownerOf,
  onChoose,
  stops,
}: {
  readonly rows: readonly Row[]
  readonly words: { readonly label: string; readonly thing: string; readonly remove: string }
  readonly last: Column<Row>
  readonly phoneNote?: (row: Row) => ReactNode
  readonly ownerOf?: (row: Row) => string | undefined
  readonly onChoose: (row: Row, step: KeyStep) => void
  /** For credentials that can be stopped. */
  readonly stops?: {
    readonly stopOf: (row: Row) => Stop
    readonly onStop: (row: Row) => void
    readonly onLift: (row: Row) => void
  }
}) {
  const recentUseOf = useRecentUse()
  const exhausted = useExhausted('key')
  const now = Date.now()
  return (
    <SearchedTable
      label={words.label}
      rows={rows}
      thing={words.thing}
      textOf={(key) => `${key.name} ${key.maskedPrefix} ${ownerOf?.(key) ?? ''}`}
      searched={`${ownerOf === undefined ? 'Names' : 'Names, owners'} and the beginnings of ${words.thing}s are searched.`}
      keyOf={({ id }) => id}
      isStackedOnPhones={false}
      columns={[
        {
          title: 'Name',
          className: 'max-w-72 min-w-32 font-medium wrap-anywhere text-ink',
          cell: (key) => (
            <>
              <PageLink to={`/keys/${key.id}`}>
                <bdi>{key.name}</bdi>
              </PageLink>{' '}
              <ExhaustedBadge id={key.id} exhausted={exhausted} />{' '}
              <StopBadge stop={stops?.stopOf(key)} />
              <span className="block text-xs font-normal text-ink-faint">{ownerOf?.(key)}</span>
              <div className="mt-0.5 flex flex-col items-start gap-1 text-[13px] font-normal text-ink-soft sm:hidden">
                <MaskedKey apiKey={key} now={now} />
                {phoneNote?.(key)}
                <span>
                  Last used: <Moment at={key.lastUsedAt} />
                </span>
                {key.expiresAt !== null && <Expiry at={key.expiresAt} now={now} verb="Expires " />}
              </div>
            </>
          ),
        },
        {
          title: words.thing.charAt(0).toUpperCase() + words.thing.slice(1),
          isWideOnly: true,
          cell: (key) => <MaskedKey apiKey={key} now={now} />,
        },
        {
          title: 'Calls, last 24 h',
          isNumber: true,
          className: 'whitespace-nowrap',
          cell: (key) => <Calls apiKey={key} use={recentUseOf(key.id)} />,
        },
        timeColumn('Last used', 'lastUsedAt', { isWideOnly: true }),
        {
          title: 'Expires',
          isWideOnly: true,
          className: 'text-ink-soft',
          cell: ({ expiresAt }) =>
            expiresAt === null ? (
              <span className="text-ink-faint">never</span>
            ) : (
              <Expiry at={expiresAt} now={now} />
            ),
        },
        last,
        {
          title: 'Actions',
          isHidden: true,
          className: 'text-right',
          cell: (key) => (
            <KeyMenu
              name={key.name}
              removeLabel={words.remove}
              hasExpired={hasExpired(key, now)}
              {...(stops && { isStopped: stops.stopOf(key)?.kind === 'access-token' })}
              onChoose={(step) => {
                if (step === 'stop') stops?.onStop(key)
                else if (step === 'lift') stops?.onLift(key)
                else onChoose(key, step)
              }}
            />
          ),
        },
      ]}
    />
  )
}

function Calls({ apiKey, use }: { readonly apiKey: ApiKey; readonly use: RecentUse | undefined }) {
  if (use === undefined) return <span className="text-ink-faint">{NOT_KNOWN}</span>
  if (use.calls === 0) return <span className="text-ink-faint">0</span>
  const calls = formatWhole(use.calls)
  return (
    <>
      <PageLink
        to="/logs"
        search={{ key: apiKey.id }}
        label={`${calls} ${use.calls === 1 ? 'call' : 'calls'}, to the logs of ${apiKey.name}`}
      >
        {calls}
      </PageLink>
      {use.errors > 0 && (
        <span className="block text-xs text-danger">{formatWhole(use.errors)} failed</span>
      )}
    </>
  )
}

export function MaskedKey({ apiKey, now }: { readonly apiKey: ApiKey; readonly now: number }) {
  const previous = previousOf(apiKey, now)
  const zone = useTimeZone()
  return (
    <>
      <code className="block font-mono text-[13px] whitespace-nowrap text-ink-soft">
        {apiKey.maskedPrefix}
      </code>
      {previous !== undefined && (
        <span className="block text-xs whitespace-nowrap" title={exactly(previous.endsAt, zone)}>
          <span className="block text-ink-faint">
            old: <code className="font-mono">{previous.maskedPrefix}</code>
          </span>
          <span className="block text-warn">ends {formatRemaining(previous.endsAt, now)}</span>
        </span>
      )}
    </>
  )
}

export function Expiry({
  at,
  now,
  verb = '',
}: {
  readonly at: string
  readonly now: number
  readonly verb?: string
}) {
  const state = stateOfExpiry(at, now)
  const zone = useTimeZone()
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1" title={exactly(at, zone)}>
      {state === 'expired' && <Badge tone="danger">Expired</Badge>}
      {state === 'soon' && <Badge tone="warn">Expires {formatRemaining(at, now)}</Badge>}
      {state !== 'soon' && (
        <time dateTime={at} className="whitespace-nowrap">
          {state === 'later' && verb}
          {formatDate(at, zone)}
        </time>
      )}
    </span>
  )
}

export function useCreatedColumn(): Column<ApiKey> {
  const creatorOf = useCreatorNames()
  return {
    title: 'Created',
    isWideOnly: true,
    className: 'text-ink-soft',
    cell: (key) => (
      <>
        <Moment at={key.createdAt} />
        <Creator name={creatorOf(key)} />
      </>
    ),
  }
}

function Creator({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : (
    <span className="block max-w-48 truncate text-xs text-ink-faint">by {name}</span>
  )
}

function exactly(moment: string, zone: TimeZone): string {
  return `${formatDateTime(moment, zone)} (${nameZone(zone)})`
}

const USER_ID = /^user_/

export function useCreatorNames(): (key: ApiKey) => string | undefined {
  const keys = useQuery(wholeListQuery('GET /v1/keys'))
  const members = useQuery(wholeListQuery('GET /v1/members'))
  const keyNames = new Map(keys.data?.map(({ id, name }) => [id, name]))
  const memberNames = new Map(members.data?.map(({ id, name }) => [id, name]))
  return ({ createdBy }) => {
    if (createdBy === null) return undefined
    if (createdBy === 'operator') return 'the operator'
    if (USER_ID.test(createdBy))
      return memberNames.get(createdBy) ?? (members.isSuccess ? 'a former member' : undefined)
    const name = keyNames.get(createdBy)
    if (name !== undefined) return `key “${name}”`
    return keys.isSuccess ? 'a deleted key' : undefined
  }
}

export type KeyStep = 'change' | 'rotate' | 'delete'
type MenuStep = KeyStep | 'stop' | 'lift'

function KeyMenu({
  name,
  removeLabel,
  hasExpired,
  isStopped,
  onChoose,
}: {
  readonly name: string
  readonly removeLabel: string
  readonly hasExpired: boolean
  /** Undefined for credentials that cannot be stopped. */
  readonly isStopped?: boolean
  readonly onChoose: (step: MenuStep) => void
}) {
  // A dialog that was opened earlier would return the focus to a missing entry.
  const chosen = useRef<MenuStep>(undefined)
  const choose = (step: MenuStep) => () => {
    chosen.current = step
  }
  return (
    <Menu
      trigger={
        <IconButton size="small" label={`Actions for ${name}`}>
          <Ellipsis aria-hidden className="size-4" />
        </IconButton>
      }
      onClosed={() => {
        const step = chosen.current
        chosen.current = undefined
        if (step !== undefined) onChoose(step)
      }}
    >
      <MenuItem onSelect={choose('change')}>
        <CalendarClock aria-hidden />
        Edit
      </MenuItem>
      <MenuItem onSelect={choose('rotate')} disabled={hasExpired}>
        <RefreshCw aria-hidden />
        Rotate
      </MenuItem>
      {isStopped !== undefined && (
        <MenuItem onSelect={choose(isStopped ? 'lift' : 'stop')}>
          {isStopped ? <CirclePlay aria-hidden /> : <CircleStop aria-hidden />}
          {isStopped ? 'Lift the stop' : 'Stop'}
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem isDanger onSelect={choose('delete')}>
        <Trash2 aria-hidden />
        {removeLabel}
      </MenuItem>
    </Menu>
  )
}
