import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { ACTION_WORDS, RESOURCE_WORDS } from '../../../src/contract/audit-words.ts'
import type { RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ACTIONS, type AuditSearch, isAction, isResource } from './audit-search.ts'

export function AuditFilter({
  search,
  seen,
  onChange,
}: {
  readonly search: AuditSearch
  /** Entries on the page: their actors can be chosen even after they were deleted. */
  readonly seen: readonly RowOf<'GET /v1/audit-log'>[]
  readonly onChange: (search: AuditSearch) => void
}) {
  const actors = useActors(seen, search.actor)
  const form = useRef<HTMLFormElement>(null)
  const reset = () => {
    onChange({})
    // The button becomes disabled, which would lose the focus.
    form.current?.querySelector('select')?.focus()
  }
  const change = (changed: Partial<Record<keyof AuditSearch, string | undefined>>) => {
    const next = { ...search, ...changed }
    onChange(
      Object.fromEntries(
        Object.entries(next).filter(([, value]) => value !== undefined && value !== ''),
      ),
    )
  }
  const actions = ACTIONS.filter(
    (action) => search.resourceType === undefined || action.startsWith(`${search.resourceType}.`),
  )
  return (
    <form
      ref={form}
      aria-label="Filter"
      noValidate
      onSubmit={(event) => event.preventDefault()}
      className="grid grid-cols-2 items-end gap-3 border-b border-line px-5 py-4 xl:grid-cols-[repeat(5,minmax(0,1fr))_auto]"
    >
      <SelectField
        label="By"
        value={search.actor ?? ''}
        onChange={(event) => change({ actor: event.target.value })}
        options={Object.fromEntries(actors)}
      >
        <option value="">Anybody</option>
      </SelectField>
      <SelectField
        label="Of"
        value={search.resourceType ?? ''}
        onChange={({ target: { value } }) =>
          change({
            resourceType: isResource(value) ? value : undefined,
            action: search.action?.startsWith(`${value}.`) === true ? search.action : undefined,
          })
        }
        options={RESOURCE_WORDS}
      >
        <option value="">Anything</option>
      </SelectField>
      <SelectField
        label="Change"
        className="col-span-2 xl:col-span-1"
        value={search.action ?? ''}
        onChange={({ target: { value } }) =>
          change({ action: isAction(value) ? value : undefined })
        }
        options={Object.fromEntries(actions.map((action) => [action, ACTION_WORDS[action]]))}
      >
        <option value="">Any change</option>
      </SelectField>
      <DayField
        label="From"
        max={search.to}
        day={search.from}
        onChange={(from) => change({ from })}
      />
      <DayField label="Until" min={search.from} day={search.to} onChange={(to) => change({ to })} />
      <Button disabled={Object.keys(search).length === 0} onClick={reset}>
        Reset
      </Button>
    </form>
  )
}

/** With a four-digit year, the next key goes to the next field. */
const LAST_DAY = '9999-12-31'
const FIRST_DAY = '1000-01-01'

/**
 * Holds typed text back until the year is complete; an incomplete year is another year, such as
 * 0002.
 */
function DayField({
  label,
  day,
  min,
  max = LAST_DAY,
  onChange,
}: {
  readonly label: string
  readonly day: string | undefined
  readonly min?: string | undefined
  readonly max?: string | undefined
  readonly onChange: (day: string) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (day === undefined && field.current !== null && field.current.value >= FIRST_DAY)
      field.current.value = ''
  }, [day])
  return (
    <TextField
      ref={field}
      label={label}
      type="date"
      min={min}
      max={max}
      defaultValue={day}
      onChange={({ target: { value } }) => {
        if (value === '' || value >= FIRST_DAY) onChange(value)
      }}
    />
  )
}

function useActors(
  seen: readonly RowOf<'GET /v1/audit-log'>[],
  chosen: string | undefined,
): ReadonlyMap<string, string> {
  const { data: members = [] } = useQuery(wholeListQuery('GET /v1/members'))
  const { data: keys = [] } = useQuery(wholeListQuery('GET /v1/keys'))
  const actors = new Map<string, string>()
  for (const { id, name } of members) actors.set(id, name)
  for (const { id, name } of keys) actors.set(id, `Key “${name}”`)
  actors.set('local', 'The operator')
  for (const { actor } of seen) {
    const name = actor.name ?? actor.id
    const words = { key: `Key “${name}”`, fuse: `The fuse of ${name}`, user: name, operator: name }
    if (!actors.has(actor.id)) actors.set(actor.id, words[actor.type])
  }
  if (chosen !== undefined && !actors.has(chosen)) actors.set(chosen, chosen)
  return actors
}
