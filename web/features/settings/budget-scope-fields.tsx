/** The key or the gate that a budget limits: searched, since an account may have thousands. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { findSubject, type Subject } from './find-subject.ts'

export interface BudgetScope {
  readonly type: 'key' | 'gate'
  /** Empty: not chosen yet. */
  readonly id: string
}

export function BudgetScopeFields({
  scope,
  isTried,
  onChange,
}: {
  readonly scope: BudgetScope
  /** The form was sent with something missing. */
  readonly isTried: boolean
  readonly onChange: (scope: BudgetScope) => void
}) {
  const keys = useQuery(wholeListQuery('GET /v1/keys'))
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const list = scope.type === 'key' ? keys : gates
  const subjects =
    scope.type === 'key'
      ? keys.data?.map(({ id, name, maskedPrefix }) => ({ id, label: `${name} (${maskedPrefix})` }))
      : gates.data?.map(({ id }) => ({ id, label: id }))
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Limits"
        value={scope.type}
        onChange={(event) =>
          onChange({ type: event.target.value === 'gate' ? 'gate' : 'key', id: '' })
        }
      >
        <option value="key">A key</option>
        <option value="gate">A gate</option>
      </SelectField>
      <SubjectField
        key={scope.type}
        type={scope.type}
        id={scope.id}
        subjects={subjects}
        isFailed={list.isError}
        isTried={isTried}
        onFound={(id) => onChange({ ...scope, id })}
      />
    </div>
  )
}

function SubjectField({
  type,
  id,
  subjects,
  isFailed,
  isTried,
  onFound,
}: {
  readonly type: BudgetScope['type']
  /** Of the subject that the form knows. */
  readonly id: string
  /** Undefined: not loaded yet. */
  readonly subjects: readonly Subject[] | undefined
  readonly isFailed: boolean
  readonly isTried: boolean
  /** Empty: none is meant. */
  readonly onFound: (id: string) => void
}) {
  const listId = useId()
  const [text, setText] = useState('')
  const { subject, matches } = findSubject(subjects ?? [], text)
  const foundId = subject?.id ?? ''
  // The list may be loaded after the text was typed.
  useEffect(() => {
    if (foundId !== id) onFound(foundId)
  }, [foundId, id, onFound])
  const isTyped = text.trim() !== ''
  const note = describeMatches({ type, subjects, subject, matches, isTyped })
  const isWrong = subjects !== undefined && isTyped && subject === undefined
  const problem = isFailed
    ? 'The list could not be loaded.'
    : isWrong && (matches === 0 || isTried)
      ? note
      : undefined
  return (
    <>
      <TextField
        label={type === 'key' ? 'Key' : 'Gate'}
        list={listId}
        required
        autoComplete="off"
        spellCheck={false}
        placeholder={type === 'key' ? 'Search by name or id' : 'Search by id'}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => subject !== undefined && setText(subject.label)}
        hint={note}
        problem={problem}
        field={type === 'key' ? 'keyId' : 'gateId'}
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
  type,
  subjects,
  subject,
  matches,
  isTyped,
}: {
  readonly type: BudgetScope['type']
  readonly subjects: readonly Subject[] | undefined
  readonly subject: Subject | undefined
  readonly matches: number
  readonly isTyped: boolean
}): string {
  if (subjects === undefined) return 'Loading…'
  if (subjects.length === 0) return `There is no ${type} yet.`
  if (!isTyped) return `One of ${subjects.length.toLocaleString('en')}.`
  if (subject !== undefined) return `Limits ${subject.label}.`
  return matches === 0
    ? `No ${type} matches.`
    : `${matches.toLocaleString('en')} ${type}s match: choose one.`
}
