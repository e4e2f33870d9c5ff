import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useId, useRef, useState } from 'react'
import { ERROR_KINDS } from '../../../src/contract/error-table.ts'
import { CALL_OUTCOMES } from '../../../src/contract/words.ts'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { parseFieldTime, toFieldTime } from '../../format/time-zone.ts'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { nameError } from './explain-error.ts'
import { Choice, Options, TargetField } from './filter-controls.tsx'
import { type FilterName, type LogSearch, RANGES, readLogSearch, without } from './log-filter.ts'

const STATUSES = [
  '2xx',
  '4xx',
  '5xx',
  '400',
  '401',
  '404',
  '429',
  '499',
  '500',
  '502',
  '503',
  '504',
]

/** Refusal codes that operators often search for. */
const REFUSAL_CODES = [
  'price_unknown',
  'provider_account_id',
  'unsupported_parameter',
  'unsupported_content',
  'invalid_value',
  'invalid_type',
  'invalid_json',
  'missing_required_parameter',
  'overrides_rejected',
  'provider_mismatch',
  'provider_not_configured',
  'provider_auth_failed',
  'model_not_found',
  'rate_limit_exceeded',
  'insufficient_quota',
  'payload_too_large',
]

export interface LogFiltersProps {
  readonly search: LogSearch
  readonly onChange: (search: LogSearch) => void
}

export function LogFilters({ search, onChange }: LogFiltersProps) {
  const gates = useQuery(wholeListQuery('GET /v1/gates')).data ?? []
  const keys = useKeysAndTokens().data ?? []
  const [isCustom, setCustom] = useState(search.from !== undefined || search.to !== undefined)
  const targets = [
    ...new Set(gates.flatMap((gate) => gate.targets.map(({ model }) => model))),
  ].sort()

  const set = (name: FilterName, value: string) =>
    onChange(
      readLogSearch({ ...without(search, name), ...(value === '' ? {} : { [name]: value }) }),
    )
  const chooseTime = (value: string) => {
    setCustom(value === 'custom')
    const rest = without(search, 'range', 'from', 'to')
    if (value !== 'custom') onChange(value === '' ? rest : readLogSearch({ ...rest, range: value }))
  }
  const isBetween = search.from !== undefined || search.to !== undefined
  return (
    <>
      <Choice
        label="Time"
        value={isBetween || isCustom ? 'custom' : (search.range ?? '')}
        onChoose={chooseTime}
        isSet={isBetween || search.range !== undefined}
      >
        <option value="">Any time</option>
        {Object.entries(RANGES).map(([range, { label }]) => (
          <option key={range} value={range}>
            {label}
          </option>
        ))}
        <option value="custom">Between…</option>
      </Choice>
      <Choice
        label="Outcome"
        value={search.outcome ?? ''}
        onChoose={(value) => set('outcome', value)}
      >
        <option value="">Any outcome</option>
        <Options values={CALL_OUTCOMES} chosen={search.outcome} show={capitalise} />
      </Choice>
      <Choice label="Status" value={search.status ?? ''} onChoose={(value) => set('status', value)}>
        <option value="">Any status</option>
        <Options values={STATUSES} chosen={search.status} />
      </Choice>
      <Choice label="Gate" value={search.gate ?? ''} onChoose={(value) => set('gate', value)}>
        <option value="">Any gate</option>
        <Options values={gates.map(({ id }) => id)} chosen={search.gate} />
      </Choice>
      <Choice label="Key" value={search.key ?? ''} onChoose={(value) => set('key', value)}>
        <option value="">Any key</option>
        <Options
          values={keys.map(({ id }) => id)}
          chosen={search.key}
          show={(id) => keys.find((key) => key.id === id)?.name ?? id}
        />
      </Choice>
      <TargetField
        value={search.target ?? search.targetPart ?? ''}
        targets={targets}
        onChoose={(value) => {
          // A target's full name matches exactly, other text matches all targets that contain the
          // text.
          const name = targets.includes(value) ? 'target' : 'targetPart'
          const rest = without(search, 'target', 'targetPart')
          onChange(readLogSearch({ ...rest, ...(value === '' ? {} : { [name]: value }) }))
        }}
      />
      <Choice
        label="Error"
        value={search.errorKind ?? ''}
        onChoose={(value) => set('errorKind', value)}
      >
        <option value="">Any error</option>
        <Options
          values={ERROR_KINDS}
          chosen={search.errorKind}
          show={(kind) => capitalise(nameError(kind))}
        />
      </Choice>
      <Choice
        label="Refused"
        value={search.refused ?? ''}
        onChoose={(value) => set('refused', value)}
      >
        <option value="">Refused or not</option>
        <option value="any">By the gateway</option>
        <Options
          values={REFUSAL_CODES}
          chosen={search.refused === 'any' ? undefined : search.refused}
        />
      </Choice>
      <Choice
        label="Stream"
        value={search.stream === undefined ? '' : String(search.stream)}
        onChoose={(value) => set('stream', value)}
      >
        <option value="">Any answer</option>
        <option value="true">Streams</option>
        <option value="false">Whole answers</option>
      </Choice>
      {(isCustom || isBetween) && (
        <CheckedTimeRange
          from={search.from}
          to={search.to}
          onChange={(range) =>
            onChange(readLogSearch({ ...without(search, 'range', 'from', 'to'), ...range }))
          }
        />
      )}
    </>
  )
}

function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

interface TypedRange {
  readonly range: { readonly from?: string; readonly to?: string }
  readonly before: { readonly from: string | undefined; readonly to: string | undefined }
}

/**
 * A range that ends before it begins shows a message and filters nothing until corrected; both
 * fields keep their text.
 */
function CheckedTimeRange({ from, to, onChange }: TimeRangeProps) {
  const [typed, setTyped] = useState<TypedRange>()
  // The range differs if it was removed or chosen elsewhere meanwhile.
  const reversed = typed?.before.from === from && typed?.before.to === to ? typed : undefined
  const choose = (range: TypedRange['range']) => {
    const isReversed = range.from !== undefined && range.to !== undefined && range.from >= range.to
    setTyped(isReversed ? { range, before: { from, to } } : undefined)
    if (!isReversed) onChange(range)
  }
  return (
    <>
      <TimeRange
        from={reversed?.range.from ?? from}
        to={reversed?.range.to ?? to}
        onChange={choose}
      />
      {reversed !== undefined && (
        <p role="alert" className="col-span-full text-[13px] text-danger">
          The start must be before the end. The list shows the previous range.
        </p>
      )}
    </>
  )
}

interface TimeRangeProps {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly onChange: (range: { readonly from?: string; readonly to?: string }) => void
}

function TimeRange({ from, to, onChange }: TimeRangeProps) {
  const zone = useTimeZone()
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  return (
    <div className="col-span-full flex flex-wrap items-center gap-2 text-[13px] text-ink-soft">
      <Moment
        key={`from-${zone}`}
        label="From"
        at={from}
        onChange={(next) => onChange({ ...given, from: next })}
      />
      <Moment
        key={`to-${zone}`}
        label="to"
        at={to}
        onChange={(next) => onChange({ ...given, to: next })}
      />
    </div>
  )
}

function Moment({
  label,
  at,
  onChange,
}: {
  readonly label: string
  readonly at: string | undefined
  readonly onChange: (at: string | undefined) => void
}) {
  const id = useId()
  const zone = useTimeZone()
  const text = at === undefined ? '' : toFieldTime(Date.parse(at), zone)
  const { field, send } = useTypedField(text)
  return (
    <span className="flex items-center gap-2">
      <label htmlFor={id}>{label}</label>
      <input
        ref={field}
        id={id}
        type="datetime-local"
        // With a four-digit year, the next key goes to the hour.
        max="9999-12-31T23:59"
        defaultValue={text}
        onChange={(event) => {
          const timeMs = parseFieldTime(event.target.value, zone)
          // An incomplete year, such as 0002, is ignored.
          const isWhole = timeMs >= 0
          send(isWhole ? toFieldTime(timeMs, zone) : '')
          onChange(isWhole ? new Date(timeMs).toISOString() : undefined)
        }}
        className={classNames(CONTROL_CLASS, 'h-8 w-auto px-2 text-[13px]')}
      />
    </span>
  )
}

interface TypedField {
  readonly field: RefObject<HTMLInputElement | null>
  readonly send: (text: string) => void
}

function useTypedField(text: string): TypedField {
  const field = useRef<HTMLInputElement>(null)
  /** Values on their way to the address, which is slower than typing. */
  const sent = useRef<readonly string[]>([])
  useEffect(() => {
    const place = sent.current.indexOf(text)
    sent.current = place < 0 ? [] : sent.current.slice(place + 1)
    if (place < 0 && field.current !== null && field.current.value !== text)
      field.current.value = text
  }, [text])
  return {
    field,
    send: (next) => {
      sent.current = [...sent.current, next]
    },
  }
}
