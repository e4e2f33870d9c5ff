import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { problemWith } from '../../api/api-error.ts'
import { ask } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { SelectField, TextAreaField, TextField, useRefusal } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import type { RowDialogProps } from '../../ui/resource-page.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useFields } from '../../ui/use-fields.ts'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { TagsField } from './attribution-fields.tsx'
import { hasExpired, toExpiresAt } from './expiry.ts'
import { ExpiryField, KeyNameField } from './key-fields.tsx'
import type { Created } from './new-secret-shown.tsx'
import {
  type AccessToken,
  changedRules,
  isSound,
  LIMIT_FIELDS,
  parseLimit,
  type TokenDraft,
  toDraft,
  toRules,
} from './token-draft.ts'

export function NewTokenForm({
  takesFocus,
  onCreated,
  onCancel,
}: {
  readonly takesFocus: boolean
  readonly onCreated: (created: Created) => void
  readonly onCancel: () => void
}) {
  const zone = useTimeZone()
  const form = useFields(toDraft(undefined))
  const { fields } = form
  const create = useChange({
    send: () => {
      const expiresAt = toExpiresAt(fields.expiry, { now: Date.now(), kept: null, zone })
      return ask('POST /v1/access-tokens', {
        body: { ...toRules(fields), expiresAt: toTime(expiresAt) },
      })
    },
    // The answer holds the token.
    isSecret: true,
    onAnswer: onCreated,
    makesStale: ['GET /v1/access-tokens'],
  })
  const [wasTried, setTried] = useState(false)
  const submit = () => {
    setTried(true)
    if (!isSound(fields)) return false
    create.mutate()
    return true
  }
  return (
    <Form onSubmit={submit} error={create.error} className="flex flex-col gap-4">
      <TokenFields {...form} takesFocus={takesFocus} wasTried={wasTried} error={create.error} />
      <FormRefusal />
      <FormActions onCancel={onCancel} isBusy={create.isPending} makesSecret>
        Create
      </FormActions>
    </Form>
  )
}

export function ChangeTokenDialog({ row: token, onClose }: RowDialogProps<AccessToken>) {
  const zone = useTimeZone()
  const edited = useEdited(token, toDraft)
  const { base, first, fields } = edited
  const [isOver] = useState(() => hasExpired(token, Date.now()))
  const [wasTried, setTried] = useState(false)
  const isOtherEnd = JSON.stringify(fields.expiry) !== JSON.stringify(first.expiry)
  const changes = changedRules(first, fields)
  const save = useChange({
    send: async (isOverwriting: boolean) => {
      const expiresAt = toExpiresAt(fields.expiry, { now: Date.now(), kept: base.expiresAt, zone })
      const end = isOtherEnd ? { expiresAt: toTime(expiresAt) } : {}
      const question = { path: { id: token.id }, body: { ...changes, ...end } }
      const isSame = (now: AccessToken) =>
        now.expiresAt === base.expiresAt &&
        Object.keys(changedRules(toDraft(now), toDraft(base))).length === 0
      return await changeSame(
        'PATCH /v1/access-tokens/{id}',
        [question],
        isOverwriting ? undefined : isSame,
      )
    },
    makesStale: ['GET /v1/access-tokens'],
    done: (changed) => `Token “${changed.name}” saved`,
    onDone: onClose,
  })
  const submit = () => {
    setTried(true)
    if (!isSound(fields)) return false
    save.mutate(false)
    return true
  }
  return (
    <Dialog isOpen onClose={onClose} title={`Edit “${token.name}”`}>
      <Form onSubmit={submit} error={save.error} className="flex flex-col gap-4">
        <TokenFields
          {...edited}
          takesFocus
          wasTried={wasTried}
          error={save.error}
          kept={base.expiresAt}
          isOver={isOver}
        />
        <EditNotes thing="token" edited={edited} save={save} />
        <FormActions
          onCancel={onClose}
          isBusy={save.isPending}
          disabled={!isOtherEnd && Object.keys(changes).length === 0}
        >
          Save
        </FormActions>
      </Form>
    </Dialog>
  )
}

/** The form's own field refuses invalid days. */
function toTime(moment: number | null | undefined): string | null {
  return moment == null ? null : new Date(moment).toISOString()
}

const LIMIT_LABELS = {
  requestsPerMinute: 'Requests a minute',
  tokensPerMinute: 'Tokens a minute',
  concurrentCalls: 'Concurrent calls',
} as const

function TokenFields({
  fields,
  change,
  bind,
  takesFocus,
  wasTried,
  error,
  kept = null,
  isOver = false,
}: ReturnType<typeof useFields<TokenDraft>> & {
  readonly takesFocus: boolean
  readonly wasTried: boolean
  readonly error: unknown
  readonly kept?: string | null
  readonly isOver?: boolean
}) {
  const isAdvancedWrong =
    (wasTried && LIMIT_FIELDS.some((field) => parseLimit(fields[field]) === undefined)) ||
    [...LIMIT_FIELDS, 'ipRanges', 'overrides'].some(
      (field) => problemWith(error, field) !== undefined,
    )
  return (
    <>
      <KeyNameField
        takesFocus={takesFocus}
        name={fields.name}
        placeholder="jane, laptop"
        onChange={(name) => change({ name })}
      />
      <GatesField
        gates={fields.gates}
        wasTried={wasTried}
        onChange={(gates) => change({ gates })}
      />
      <OwnerField {...bind('owner')} />
      <TagsField {...bind('tags')} />
      {isOver ? (
        <p className="text-[13px] text-ink-soft">
          An expired token cannot be renewed. Create a new token in its place.
        </p>
      ) : (
        <ExpiryField expiry={fields.expiry} onChange={(expiry) => change({ expiry })} kept={kept} />
      )}
      <div className="rounded-lg border border-line">
        <Fold title="Advanced" summary={summarise(fields)} isWrong={isAdvancedWrong}>
          {LIMIT_FIELDS.map((field) => (
            <TextField
              key={field}
              label={LIMIT_LABELS[field]}
              isOptional
              inputMode="numeric"
              autoComplete="off"
              hint="Empty: as many as the account’s plan allows."
              problem={
                parseLimit(fields[field]) === undefined
                  ? 'Write a whole number of at least 1, or leave the field empty.'
                  : undefined
              }
              {...bind(field)}
            />
          ))}
          <TextAreaField
            label="IP ranges"
            isOptional
            isCode
            placeholder={'10.0.0.0/8\n2001:db8::/32'}
            hint="Addresses that may use it, one range a line. Empty: any address."
            {...bind('ipRanges')}
          />
          <label data-field="overrides" className="flex items-start gap-2.5 text-sm">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={fields.overrides}
              onChange={({ target }) => change({ overrides: target.checked })}
            />
            <span>
              <span className="font-medium text-ink">Allow overrides</span>
              <span className="block text-[13px] text-ink-faint">
                A request may choose another target or other settings if the gate allows that.
              </span>
            </span>
          </label>
        </Fold>
      </div>
    </>
  )
}

function summarise(draft: TokenDraft): string {
  const set = [
    ...LIMIT_FIELDS.filter((field) => draft[field] !== '').map(
      (field) => `${draft[field]} ${LIMIT_LABELS[field].toLowerCase()}`,
    ),
    ...(draft.ipRanges.trim() === '' ? [] : ['IP ranges']),
    ...(draft.overrides ? ['overrides'] : []),
  ]
  return set.length === 0 ? 'Limits, IP ranges, overrides' : set.join(' · ')
}

function GatesField({
  gates,
  wasTried,
  onChange,
}: {
  readonly gates: readonly string[] | null
  readonly wasTried: boolean
  readonly onChange: (gates: readonly string[] | null) => void
}) {
  const all = useQuery(wholeListQuery('GET /v1/gates'))
  const there = all.data?.map(({ id }) => id) ?? []
  // A deleted gate stays in the list until it is unchecked.
  const [before] = useState(gates ?? [])
  const ids = [...new Set([...there, ...before])]
  const refusal = useRefusal('gates')
  const problem = wasTried && gates?.length === 0 ? 'Choose at least one gate.' : refusal
  return (
    <fieldset data-field="gates" className="flex flex-col gap-2">
      <legend className="mb-1.5 text-[13px] font-medium text-ink">Gates</legend>
      {[
        { label: 'All gates of the account, later ones too', value: null },
        { label: 'Only these', value: before },
      ].map(({ label, value }) => (
        <label key={label} className="flex items-center gap-2.5 text-sm text-ink">
          <input
            type="radio"
            name="gates"
            className="size-4 shrink-0 accent-accent"
            checked={(gates === null) === (value === null)}
            onChange={() => onChange(value)}
          />
          {label}
        </label>
      ))}
      {gates !== null && (
        <div className="ml-6.5 flex max-h-44 flex-col gap-2 overflow-y-auto rounded-lg border border-line px-3 py-2.5">
          {ids.map((id) => (
            <label key={id} className="flex items-center gap-2.5 text-sm">
              <input
                type="checkbox"
                className="size-4 shrink-0 accent-accent"
                aria-invalid={problem === undefined ? undefined : true}
                checked={gates.includes(id)}
                onChange={({ target }) =>
                  onChange(
                    ids.filter((each) => (each === id ? target.checked : gates.includes(each))),
                  )
                }
              />
              <code className="min-w-0 font-mono text-[13px] wrap-anywhere text-ink">{id}</code>
              {all.isSuccess && !there.includes(id) && (
                <span className="text-[13px] text-danger">deleted</span>
              )}
            </label>
          ))}
          {ids.length === 0 && (
            <p className="text-[13px] text-ink-soft">
              {all.isPending ? 'Loading the gates…' : 'The account has no gate yet.'}
            </p>
          )}
        </div>
      )}
      {problem !== undefined && <p className="text-[13px] text-danger">{problem}</p>}
    </fieldset>
  )
}

function OwnerField(control: ReturnType<ReturnType<typeof useFields<TokenDraft>>['bind']>) {
  const members = useQuery(wholeListQuery('GET /v1/members'))
  const tags = useQuery(wholeListQuery('GET /v1/tags'))
  const groups = [
    { label: 'Members', type: 'member', rows: members.data ?? [] },
    { label: 'Tags', type: 'tag', rows: tags.data ?? [] },
  ]
  const isKnown =
    control.value === '' ||
    groups.some(({ type, rows }) => rows.some(({ id }) => control.value === `${type}:${id}`))
  return (
    <SelectField
      label="Owner"
      hint="All calls count for this member, or bear this tag. The owner changes nothing that the token can do."
      {...control}
    >
      <option value="">Nobody in particular</option>
      {!isKnown && <option value={control.value}>As now</option>}
      {groups.map(
        ({ label, type, rows }) =>
          rows.length > 0 && (
            <optgroup key={type} label={label}>
              {rows.map(({ id, name }) => (
                <option key={id} value={`${type}:${id}`}>
                  {name}
                </option>
              ))}
            </optgroup>
          ),
      )}
    </SelectField>
  )
}
