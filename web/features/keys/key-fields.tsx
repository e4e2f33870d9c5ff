import { useState } from 'react'
import { nameZone, type TimeZone, toDay } from '../../format/time-zone.ts'
import { formatDateTime } from '../../format/times.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { EXPIRY_CHOICES, type Expiry, toExpiresAt } from './expiry.ts'

/** Years have four digits in the interface. */
const LAST_DAY = '9998-12-31'

export function ExpiryField({
  expiry,
  onChange,
  kept = null,
}: {
  readonly expiry: Expiry
  readonly onChange: (expiry: Expiry) => void
  readonly kept?: string | null
}) {
  const [now] = useState(() => Date.now())
  const zone = useTimeZone()
  const isDate = expiry.choice === 'date'
  const hint = <Consequence expiresAt={toExpiresAt(expiry, { now, kept, zone })} zone={zone} />
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label="Expires"
        value={expiry.choice}
        onChange={(event) =>
          onChange({
            choice: event.target.value as Expiry['choice'],
            day: expiry.day || toDay(now, zone),
          })
        }
        {...(isDate ? {} : { hint, field: 'expiresAt' })}
      >
        {kept !== null && <option value="keep">As now: {formatDateTime(kept, zone)}</option>}
        {EXPIRY_CHOICES.map(({ choice, label }) => (
          <option key={choice} value={choice}>
            {label}
          </option>
        ))}
      </SelectField>
      {isDate && (
        <TextField
          label="Last day"
          type="date"
          required
          min={toDay(now, zone)}
          max={LAST_DAY}
          value={expiry.day}
          onChange={(event) => onChange({ choice: 'date', day: event.target.value })}
          hint={hint}
          field="expiresAt"
        />
      )}
    </div>
  )
}

function Consequence({
  expiresAt,
  zone,
}: {
  readonly expiresAt: number | null | undefined
  readonly zone: TimeZone
}) {
  if (expiresAt === undefined) return 'The last day on which this credential works.'
  if (expiresAt === null)
    return 'Without a last day, the credential works until it is deleted or rotated.'
  return `Refused permanently from ${formatDateTime(expiresAt, zone)} (${nameZone(zone)}).`
}

const MAX_NAME_LENGTH = 120

export function KeyNameField({
  name,
  onChange,
  takesFocus = false,
  placeholder = 'production, billing service',
}: {
  readonly name: string
  readonly onChange: (name: string) => void
  readonly takesFocus?: boolean
  readonly placeholder?: string
}) {
  return (
    <TextField
      label="Name"
      placeholder={placeholder}
      hint="To tell it from the others. Only members of the account see it."
      required
      autoFocus={takesFocus}
      autoComplete="off"
      maxLength={MAX_NAME_LENGTH}
      value={name}
      onChange={(event) => onChange(event.target.value)}
      field="name"
    />
  )
}
