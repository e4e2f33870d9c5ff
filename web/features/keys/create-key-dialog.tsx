/** Creates a key, or imports an existing one. */
import { useRef, useState } from 'react'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { nameZone, type TimeZone, toDay } from '../../format/time-zone.ts'
import { formatDateTime } from '../../format/times.ts'
import { classNames } from '../../ui/class-names.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { EXPIRY_CHOICES, type Expiry, NEVER, toExpiresAt } from './expiry.ts'
import { NewKeyShown, SHOWN_ONCE } from './rotate-key-dialog.tsx'

const WAYS = [
  { way: 'create', label: 'Create a new key' },
  { way: 'import', label: 'Import an existing key' },
] as const
type Way = (typeof WAYS)[number]['way']

/** Name and expiry of a new or imported key. */
interface KeyDraft {
  readonly name: string
  readonly expiry: Expiry
}

const EMPTY_DRAFT: KeyDraft = { name: '', expiry: NEVER }

/** Unmounted when closed, so that no typed or shown text remains. */
export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [way, setWay] = useState<Way>('create')
  // Arrow keys switch between the tabs; a form that took the focus would interrupt that.
  const [wasChosen, setChosen] = useState(false)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [created, setCreated] = useState<CreatedKey>()
  if (created !== undefined)
    return (
      <Dialog
        isOpen
        onClose={onClose}
        title={`Key “${created.name}” created`}
        note={SHOWN_ONCE}
        width="wide"
      >
        <NewKeyShown created={created} />
      </Dialog>
    )
  return (
    <Dialog isOpen onClose={onClose} title={way === 'create' ? 'Create a key' : 'Import a key'}>
      <fieldset className="mb-4 flex gap-1 rounded-lg bg-sunken p-1">
        <legend className="sr-only">Where the key comes from</legend>
        {WAYS.map((choice) => (
          <label
            key={choice.way}
            className={classNames(
              'flex flex-1 cursor-pointer items-center justify-center rounded-md px-2 py-1.5 text-center text-[13px] font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent',
              choice.way === way
                ? 'bg-surface text-ink shadow-card ring-1 ring-line-strong'
                : 'text-ink-soft hover:text-ink',
            )}
          >
            <input
              type="radio"
              name="way"
              className="sr-only"
              checked={choice.way === way}
              onChange={() => {
                setWay(choice.way)
                setChosen(true)
              }}
            />
            {choice.label}
          </label>
        ))}
      </fieldset>
      {way === 'create' ? (
        <NewKeyForm
          draft={draft}
          onChange={setDraft}
          takesFocus={!wasChosen}
          onCreated={setCreated}
          onCancel={onClose}
        />
      ) : (
        <ImportKeyForm draft={draft} onChange={setDraft} onDone={onClose} />
      )}
    </Dialog>
  )
}

// Creates a key with a name.

type CreatedKey = AnswerOf<'POST /v1/keys'>

function NewKeyForm({
  draft,
  onChange,
  takesFocus,
  onCreated,
  onCancel,
}: {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  /** Its first field gets the focus when it appears. */
  readonly takesFocus: boolean
  readonly onCreated: (created: CreatedKey) => void
  readonly onCancel: () => void
}) {
  const zone = useTimeZone()
  const create = useChange({
    send: () => ask('POST /v1/keys', { body: toLabel(draft, { now: Date.now(), zone }) }),
    // The answer contains the key.
    isSecret: true,
    onAnswer: onCreated,
    makesStale: ['GET /v1/keys'],
  })
  return (
    <Form onSubmit={() => create.mutate()} error={create.error} className="flex flex-col gap-4">
      <KeyNameField
        name={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        takesFocus={takesFocus}
      />
      <ExpiryField expiry={draft.expiry} onChange={(expiry) => onChange({ ...draft, expiry })} />
      <FormRefusal />
      <FormActions onCancel={onCancel} isBusy={create.isPending} makesSecret>
        Create
      </FormActions>
    </Form>
  )
}

// Imports an existing key, so that its users need not change anything. The key is in no state and
// no cache of the page.

const MAX_KEY_LENGTH = 600

function ImportKeyForm({
  draft,
  onChange,
  onDone,
}: {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  readonly onDone: () => void
}) {
  const zone = useTimeZone()
  const field = useRef<HTMLInputElement>(null)
  const take = useChange({
    send: () =>
      ask('POST /v1/keys/import', {
        body: {
          ...toLabel(draft, { now: Date.now(), zone }),
          key: field.current?.value.trim() ?? '',
        },
      }),
    isSecret: true,
    makesStale: ['GET /v1/keys'],
    done: (taken) => [
      `Key “${taken.name}” imported`,
      { description: `${taken.maskedPrefix} is accepted from now on.` },
    ],
    onDone,
  })
  return (
    <Form
      onSubmit={() => take.mutate()}
      error={take.error}
      conflictAt="key"
      autoComplete="off"
      className="flex flex-col gap-4"
    >
      <KeyNameField name={draft.name} onChange={(name) => onChange({ ...draft, name })} />
      <SecretField
        label="Key"
        ref={field}
        maxLength={MAX_KEY_LENGTH}
        field="key"
        hint="One that begins with svc_, legacy_ or sk-svc-. Only its hash is kept."
      />
      <ExpiryField expiry={draft.expiry} onChange={(expiry) => onChange({ ...draft, expiry })} />
      <FormRefusal />
      <FormActions onCancel={onDone} isBusy={take.isPending}>
        Import
      </FormActions>
    </Form>
  )
}

/** The part of the body that both ways share. The form's own field refuses invalid days. */
function toLabel(
  { name, expiry }: KeyDraft,
  { now, zone }: { readonly now: number; readonly zone: TimeZone },
) {
  const expiresAt = toExpiresAt(expiry, { now, kept: null, zone })
  return {
    name: name.trim(),
    ...(expiresAt == null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

/** Years have four digits in the API. */
const LAST_DAY = '9998-12-31'

/** When a key expires: never, after a duration, or on a day. Shows the exact time. */
export function ExpiryField({
  expiry,
  onChange,
  kept = null,
}: {
  readonly expiry: Expiry
  readonly onChange: (expiry: Expiry) => void
  /** The key's current expiry; null: none, or a new key. */
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
  if (expiresAt === undefined) return 'The last day on which it works.'
  if (expiresAt === null) return 'It works until it is deleted or rotated.'
  return `Refused permanently from ${formatDateTime(expiresAt, zone)} (${nameZone(zone)}).`
}

const MAX_NAME_LENGTH = 120

/** The name of a key that is created, imported or renamed. */
export function KeyNameField({
  name,
  onChange,
  takesFocus = false,
}: {
  readonly name: string
  readonly onChange: (name: string) => void
  /** Gets the focus when it appears. */
  readonly takesFocus?: boolean
}) {
  return (
    <TextField
      label="Name"
      placeholder="production, billing service"
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
