/** Chooses whose calls a new budget limits. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { useKeysAndTokens } from '../../api/keys-and-tokens.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { SelectField, TextField } from '../../ui/field.tsx'

export interface ChosenScope {
  readonly type: keyof typeof SCOPE_CHOICES
  readonly id: string
}

const SCOPE_CHOICES = {
  keyId: 'A key or token',
  gateId: 'A gate',
  member: 'A member',
  tag: 'A tag',
  endUser: 'An end user',
  account: 'The whole account',
  'each-user': 'Each user, with a limit of their own',
  'each-key': 'Each key and service token',
} as const

const SUBJECTS = { keyId: 'key', gateId: 'gate', member: 'member' } as const

export function isChosen({ type, id }: ChosenScope): boolean {
  return isWhole(type) || id.trim() !== ''
}

export function toScopeMembers({ type, id }: ChosenScope) {
  return isWhole(type) ? { scope: type } : { [type]: id.trim() }
}

function isWhole(type: ChosenScope['type']) {
  return type === 'account' || type === 'each-user' || type === 'each-key'
}

const HINTS: Partial<Record<ChosenScope['type'], string>> = {
  'each-user':
    'Clients choose the names they send, and each new name has a new limit. Create a budget for ' +
    'the client’s key or the account too.',
  'each-key': 'Members’ own tokens and the playground count for their users.',
}

export function BudgetScopeFields({
  scope,
  isTried,
  onChange,
}: {
  readonly scope: ChosenScope
  readonly isTried: boolean
  readonly onChange: (scope: ChosenScope) => void
}) {
  const { type, id } = scope
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Limits"
        value={type}
        onChange={({ target }) => onChange({ type: target.value as ChosenScope['type'], id: '' })}
        hint={HINTS[type]}
        options={SCOPE_CHOICES}
      />
      {(type === 'keyId' || type === 'gateId' || type === 'member') && (
        <ListedSubject
          key={type}
          type={type}
          id={id}
          isTried={isTried}
          onFound={(found) => onChange({ type, id: found })}
        />
      )}
      {(type === 'tag' || type === 'endUser') && (
        <TextField
          key={type}
          label={type === 'tag' ? 'Tag' : 'End user'}
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          placeholder={type === 'tag' ? 'team-a or repo:gatehouse' : 'As calls name the user'}
          hint={type === 'endUser' ? 'Counts while end users are recorded.' : undefined}
          value={id}
          onChange={({ target }) => onChange({ type, id: target.value })}
          field={type}
        />
      )}
    </div>
  )
}

type ListedType = keyof typeof SUBJECTS

function ListedSubject({
  type,
  ...rest
}: {
  readonly type: ListedType
  readonly id: string
  readonly isTried: boolean
  readonly onFound: (id: string) => void
}) {
  const keys = useKeysAndTokens(type === 'keyId')
  const gates = useQuery({ ...wholeListQuery('GET /v1/gates'), enabled: type === 'gateId' })
  const members = useQuery({ ...wholeListQuery('GET /v1/members'), enabled: type === 'member' })
  const subjects = {
    keyId: keys.data?.map(({ id, name, maskedPrefix }) => ({
      id,
      label: `${name} (${maskedPrefix})`,
    })),
    gateId: gates.data?.map(({ id }) => ({ id, label: id })),
    member: members.data?.map(({ id, name, email }) => ({ id, label: `${name} (${email})` })),
  }[type]
  const { isError } = { keyId: keys, gateId: gates, member: members }[type]
  return <SubjectField type={type} subjects={subjects} isFailed={isError} {...rest} />
}

const LABELS = { keyId: 'Key', gateId: 'Gate', member: 'Member' } as const

function SubjectField({
  type,
  id,
  subjects,
  isFailed,
  isTried,
  onFound,
}: {
  readonly type: ListedType
  readonly id: string
  readonly subjects: readonly Subject[] | undefined
  readonly isFailed: boolean
  readonly isTried: boolean
  readonly onFound: (id: string) => void
}) {
  const listId = useId()
  const [text, setText] = useState('')
  const { subject, matches } = findSubject(subjects ?? [], text)
  const foundId = subject?.id ?? ''
  // The list may load after the text was typed.
  useEffect(() => {
    if (foundId !== id) onFound(foundId)
  }, [foundId, id, onFound])
  const isTyped = text.trim() !== ''
  const word = SUBJECTS[type]
  const note = describeMatches({ word, subjects, subject, matches, isTyped })
  const isWrong = subjects !== undefined && isTyped && subject === undefined
  const problem = isFailed
    ? 'The list could not be loaded.'
    : isWrong && (matches === 0 || isTried)
      ? note
      : undefined
  return (
    <>
      <TextField
        label={LABELS[type]}
        list={listId}
        required
        autoComplete="off"
        spellCheck={false}
        placeholder={type === 'gateId' ? 'Search by id' : 'Search by name or id'}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => subject !== undefined && setText(subject.label)}
        hint={note}
        problem={problem}
        field={type}
      />
      <datalist id={listId}>
        {subjects?.map(({ id, label }) => (
          <option key={id} value={label} />
        ))}
      </datalist>
    </>
  )
}

function describeMatches({
  word,
  subjects,
  subject,
  matches,
  isTyped,
}: {
  readonly word: string
  readonly subjects: readonly Subject[] | undefined
  readonly subject: Subject | undefined
  readonly matches: number
  readonly isTyped: boolean
}): string {
  if (subjects === undefined) return 'Loading…'
  if (subjects.length === 0) return `The account has no ${word} yet.`
  if (!isTyped) return `Choose one of ${subjects.length.toLocaleString('en')}.`
  if (subject !== undefined) return `Limits ${subject.label}.`
  return matches === 0
    ? `No ${word} matches.`
    : `${matches.toLocaleString('en')} ${word}s match: choose one.`
}

interface Subject {
  readonly id: string
  readonly label: string
}

interface FoundSubject {
  readonly subject: Subject | undefined
  readonly matches: number
}

/** Matches a whole id or label, or a part that is unique. */
export function findSubject(subjects: readonly Subject[], text: string): FoundSubject {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return { subject: undefined, matches: subjects.length }
  const whole = subjects.filter(
    ({ id, label }) => id.toLowerCase() === wanted || label.toLowerCase() === wanted,
  )
  const found =
    whole.length > 0
      ? whole
      : subjects.filter(({ id, label }) => `${id} ${label}`.toLowerCase().includes(wanted))
  return { subject: found.length === 1 ? found[0] : undefined, matches: found.length }
}
