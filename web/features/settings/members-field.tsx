import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { findByWords } from '../../format/find-by-words.ts'
import { CONTROL_CLASS, useRefusal } from '../../ui/field.tsx'

/** From this number on, the list can be searched. */
const MANY = 9

/** Members of the account, of whom any number is chosen by id. */
export function MembersField({
  label,
  hint,
  field,
  chosen,
  onChange,
}: {
  readonly label: string
  readonly hint: string
  readonly field: string
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) {
  const members = useQuery(wholeListQuery('GET /v1/members'))
  const [text, setText] = useState('')
  const [before] = useState(chosen)
  const problem = useRefusal(field)
  const rows = members.data ?? []
  const known = new Set(rows.map(({ id }) => id))
  const all = [
    ...rows.map(({ id, name, email }) => ({ id, name, email })),
    // A member who left stays in the list until the box is unchecked.
    ...before
      .filter((id) => members.isSuccess && !known.has(id))
      .map((id) => ({ id, name: 'A former member', email: id })),
  ]
  const shown = findByWords(all, text, ({ name, email }) => `${name} ${email}`)
  return (
    <fieldset data-field={field} className="flex flex-col gap-1.5">
      <legend className="mb-1.5 text-[13px] font-medium text-ink">
        {label}
        <span className="font-normal text-ink-faint"> optional</span>
        {chosen.length > 0 && (
          <span className="font-normal text-ink-faint"> · {chosen.length} chosen</span>
        )}
      </legend>
      {all.length >= MANY && (
        <input
          type="search"
          aria-label={`Search ${label.toLowerCase()}`}
          placeholder="Search by name or e-mail address"
          value={text}
          onChange={({ target }) => setText(target.value)}
          className={`${CONTROL_CLASS} h-9`}
        />
      )}
      <div className="flex max-h-44 flex-col gap-2 overflow-y-auto rounded-lg border border-line px-3 py-2.5">
        {shown.map(({ id, name, email }) => (
          <label key={id} className="flex items-start gap-2.5 text-sm text-ink">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              aria-invalid={problem === undefined ? undefined : true}
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(
                  target.checked ? [...chosen, id] : chosen.filter((member) => member !== id),
                )
              }
            />
            <span className="min-w-0 wrap-anywhere">
              {name} <span className="text-[13px] text-ink-faint">{email}</span>
            </span>
          </label>
        ))}
        {shown.length === 0 && (
          <p className="text-[13px] text-ink-soft">
            {members.isPending
              ? 'Loading the members…'
              : members.isError
                ? 'The members could not be loaded.'
                : 'No member has this name.'}
          </p>
        )}
      </div>
      <p
        className={problem === undefined ? 'text-[13px] text-ink-faint' : 'text-[13px] text-danger'}
      >
        {problem ?? hint}
      </p>
    </fieldset>
  )
}
