import { useRef, useState } from 'react'
import { ask } from '../../api/ask.ts'
import type { TimeZone } from '../../format/time-zone.ts'
import { classNames } from '../../ui/class-names.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { bindTo } from '../../ui/use-fields.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { TagsField, UserField } from './attribution-fields.tsx'
import { type Expiry, NEVER, toExpiresAt } from './expiry.ts'
import { ExpiryField, KeyNameField } from './key-fields.tsx'
import { type Created, NewSecretShown, shownOnce } from './new-secret-shown.tsx'
import { toTags } from './token-draft.ts'
import { NewTokenForm } from './token-form.tsx'

const KINDS = [
  {
    kind: 'token',
    label: 'Access token',
    note: 'Access tokens are for applications and developers: a token can only call gates.',
  },
  {
    kind: 'key',
    label: 'API key (full access)',
    note: 'API keys are for administrators and automation: a key can also change gates, keys, budgets and provider keys, and invite members.',
  },
] as const
type Kind = (typeof KINDS)[number]['kind']

const WAYS = [
  { way: 'create', label: 'Create a new key' },
  { way: 'import', label: 'Import an existing key' },
] as const
type Way = (typeof WAYS)[number]['way']

interface KeyDraft {
  readonly name: string
  readonly expiry: Expiry
  /** A member's id, or empty. */
  readonly user: string
  readonly tags: string
}

const EMPTY_DRAFT: KeyDraft = { name: '', expiry: NEVER, user: '', tags: '' }

export function CreateTokenDialog({ onClose }: RowDialogProps<undefined>) {
  return <CreateDialog firstKind="token" onClose={onClose} />
}

export function CreateKeyDialog({ onClose }: RowDialogProps<undefined>) {
  return <CreateDialog firstKind="key" onClose={onClose} />
}

/** Unmounted when closed, so that no typed or shown text remains. */
function CreateDialog({
  firstKind,
  onClose,
}: {
  readonly firstKind: Kind
  readonly onClose: () => void
}) {
  const [kind, setKind] = useState(firstKind)
  const [way, setWay] = useState<Way>('create')
  // Arrow keys switch between the tabs; a form that took the focus would interrupt the keys.
  const [wasChosen, setChosen] = useState(false)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [created, setCreated] = useState<Created>()
  if (created !== undefined)
    return (
      <Dialog
        isOpen
        onClose={onClose}
        title={`${kind === 'token' ? 'Access token' : 'Key'} “${created.name}” created`}
        note={shownOnce(kind)}
        width="wide"
      >
        <NewSecretShown created={created} />
      </Dialog>
    )
  const chooseKind = (chosen: Kind) => {
    setKind(chosen)
    setChosen(true)
  }
  if (kind === 'token')
    return (
      <Dialog isOpen onClose={onClose} title="Create an access token">
        <KindChoice kind={kind} onChoose={chooseKind} />
        <NewTokenForm takesFocus={!wasChosen} onCreated={setCreated} onCancel={onClose} />
      </Dialog>
    )
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={way === 'create' ? 'Create an API key' : 'Import an API key'}
    >
      <KindChoice kind={kind} onChoose={chooseKind} />
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

function KindChoice({
  kind,
  onChoose,
}: {
  readonly kind: Kind
  readonly onChoose: (kind: Kind) => void
}) {
  return (
    <fieldset className="mb-4 flex flex-col gap-2">
      <legend className="sr-only">What it may do</legend>
      {KINDS.map((choice) => (
        <label
          key={choice.kind}
          className={classNames(
            'flex cursor-pointer items-start gap-2.5 rounded-lg border px-3 py-2.5 text-sm',
            choice.kind === kind ? 'border-accent bg-accent-soft' : 'border-line-strong',
          )}
        >
          <input
            type="radio"
            name="kind"
            className="mt-0.5 size-4 shrink-0 accent-accent"
            checked={choice.kind === kind}
            onChange={() => onChoose(choice.kind)}
          />
          <span>
            <span className="font-medium text-ink">{choice.label}</span>
            <span className="block text-[13px] text-ink-soft">{choice.note}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function NewKeyForm({
  draft,
  onChange,
  takesFocus,
  onCreated,
  onCancel,
}: {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  readonly takesFocus: boolean
  readonly onCreated: (created: Created) => void
  readonly onCancel: () => void
}) {
  const zone = useTimeZone()
  const bind = bindTo(draft, (changed) => onChange({ ...draft, ...changed }))
  const create = useChange({
    send: () => {
      const tags = toTags(draft.tags)
      return ask('POST /v1/keys', {
        body: {
          ...toLabel(draft, { now: Date.now(), zone }),
          ...(draft.user !== '' && { user: draft.user }),
          ...(tags.length > 0 && { tags }),
        },
      })
    },
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
      <UserField {...bind('user')} />
      <TagsField {...bind('tags')} />
      <FormRefusal />
      <FormActions onCancel={onCancel} isBusy={create.isPending} makesSecret>
        Create
      </FormActions>
    </Form>
  )
}

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

/**
 * The part of the request body that creation and import share. The form's own field refuses invalid
 * days.
 */
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
