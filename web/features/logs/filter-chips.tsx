import { ChevronDown, Download, X } from 'lucide-react'
import { toApiRequest } from '../../../src/contract/api-call.ts'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { formatDuration } from '../../format/figures.ts'
import type { TimeZone } from '../../format/time-zone.ts'
import { formatDayTime } from '../../format/times.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Menu, MenuLink } from '../../ui/menu.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { useUserName } from '../../ui/use-user-name.ts'
import { nameError } from './explain-error.ts'
import {
  type FilterName,
  isFiltered,
  type LogQuery,
  type LogSearch,
  RANGES,
  without,
} from './log-filter.ts'

interface Chip {
  readonly text: string
  readonly names: readonly FilterName[]
}

export function FilterChips({
  search,
  onChange,
}: {
  readonly search: LogSearch
  readonly onChange: (search: LogSearch) => void
}) {
  const keys = useKeysAndTokens().data ?? []
  const userName = useUserName(search.user)
  const zone = useTimeZone()
  if (!isFiltered(search)) return null
  const nameKey = (id: string) => keys.find((key) => key.id === id)?.name ?? id
  const chips = listChips(search, zone, { nameKey, userName })
  return (
    <ul aria-label="Filters that are set" className="flex flex-wrap items-center gap-1.5">
      {chips.map(({ text, names }) => (
        <li
          key={text}
          className="inline-flex h-7 max-w-full items-center rounded-full border border-line bg-surface pl-2.5 text-xs text-ink"
        >
          <span className="truncate">{text}</span>
          <button
            type="button"
            aria-label={`Remove the filter ${text}`}
            onClick={() => onChange(without(search, ...names))}
            className="grid size-7 shrink-0 place-items-center rounded-full text-ink-faint hover:text-ink"
          >
            <X aria-hidden className="size-3.5" />
          </button>
        </li>
      ))}
      <li>
        <Button size="small" look="quiet" onClick={() => onChange({})}>
          Clear all
        </Button>
      </li>
    </ul>
  )
}

function listChips(
  search: LogSearch,
  zone: TimeZone,
  { nameKey, userName }: { readonly nameKey: (id: string) => string; readonly userName: string },
): readonly Chip[] {
  const { durationFromMs, durationToMs, firstByteFromMs, firstByteToMs } = search
  const { range, from, to, gate, key, target, outcome, status, errorKind, stream } = search
  const { refused, user, session, agent, tag } = search
  const chip = (text: string | undefined, ...names: readonly FilterName[]): readonly Chip[] =>
    text === undefined ? [] : [{ text, names }]
  return [
    ...chip(range && RANGES[range].label, 'range'),
    ...chip(from && `from ${formatDayTime(from, zone)}`, 'from'),
    ...chip(to && `to ${formatDayTime(to, zone)}`, 'to'),
    ...chip(outcome, 'outcome'),
    ...chip(status && `status ${status}`, 'status'),
    ...chip(gate && `gate ${gate}`, 'gate'),
    ...chip(key && `key ${nameKey(key)}`, 'key'),
    ...chip(user && `user ${userName}`, 'user'),
    ...chip(session && `session ${session}`, 'session'),
    ...chip(agent && `agent ${agent}`, 'agent'),
    ...chip(tag && `tag ${tag}`, 'tag'),
    ...chip(target && `target ${target}`, 'target'),
    ...chip(search.targetPart && `target with ${search.targetPart}`, 'targetPart'),
    ...chip(errorKind && nameError(errorKind), 'errorKind'),
    ...chip(refused && describeRefused(refused), 'refused'),
    ...chip(stream === undefined ? undefined : stream ? 'streams' : 'whole answers', 'stream'),
    ...chip(
      describeLengths('duration', durationFromMs, durationToMs),
      'durationFromMs',
      'durationToMs',
    ),
    ...chip(
      describeLengths('first token', firstByteFromMs, firstByteToMs),
      'firstByteFromMs',
      'firstByteToMs',
    ),
  ]
}

function describeRefused(code: string): string {
  return code === 'any' ? 'refused by the gateway' : `refused: ${code}`
}

function describeLengths(
  what: string,
  from: number | undefined,
  to: number | undefined,
): string | undefined {
  if (to === undefined)
    return from === undefined ? undefined : `${what} ${formatDuration(from)} and more`
  return from === undefined || from === 0
    ? `${what} below ${formatDuration(to)}`
    : `${what} ${formatDuration(from)} – ${formatDuration(to)}`
}

const FORMATS = [
  ['csv', 'CSV', 'for spreadsheets'],
  ['ndjson', 'NDJSON', 'a JSON object a line'],
] as const

/**
 * Downloads of the filtered calls as plain links: the browser sends the session's cookie and saves
 * the file as it arrives.
 */
export function ExportMenu({ query }: { readonly query: LogQuery }) {
  return (
    <Menu
      trigger={
        <Button size="small" className="h-8">
          <Download aria-hidden className="size-3.5" />
          Export
          <ChevronDown aria-hidden className="size-3.5 text-ink-faint" />
        </Button>
      }
    >
      {FORMATS.map(([format, name, note]) => (
        <MenuLink
          key={format}
          href={toApiRequest('GET /v1/logs/export', { query: { ...query, format } }).path}
          download={`gatehouse-logs.${format}`}
        >
          {name}
          <span className="text-ink-faint">{note}</span>
        </MenuLink>
      ))}
    </Menu>
  )
}

export function LiveSwitch({
  isOn,
  isBroken,
  disabledBecause,
  onChange,
}: {
  readonly isOn: boolean
  /** Whether the last request to the gateway had no answer. */
  readonly isBroken: boolean
  readonly disabledBecause: string | undefined
  readonly onChange: (isOn: boolean) => void
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      disabled={disabledBecause !== undefined}
      title={disabledBecause ?? 'New calls appear on top (l)'}
      onClick={() => onChange(!isOn)}
      className="inline-flex h-8 items-center gap-2 rounded-lg px-2 text-[13px] font-medium text-ink-soft hover:bg-sunken hover:text-ink disabled:opacity-50"
    >
      <span
        aria-hidden
        className={classNames(
          'relative h-4 w-7 rounded-full transition-colors',
          isOn ? (isBroken ? 'bg-warn' : 'bg-ok') : 'bg-line-strong',
        )}
      >
        <span
          className={classNames(
            'absolute top-0.5 left-0.5 size-3 rounded-full bg-surface transition-transform',
            isOn && 'translate-x-3',
          )}
        />
      </span>
      Live
      {isOn && isBroken && <span className="font-normal text-warn">trying again</span>}
    </button>
  )
}
