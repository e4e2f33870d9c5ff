/** Filters the audit log: by whom, what, of which kind, and when. */
import { useQuery } from '@tanstack/react-query'
import type { RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import type { AuditSearch } from './audit-search.ts'
import {
  ACTION_WORDS,
  ACTIONS,
  isAction,
  isResource,
  RESOURCE_WORDS,
  RESOURCES,
} from './audit-words.ts'

export function AuditFilter({
  search,
  seen,
  onChange,
}: {
  readonly search: AuditSearch
  /** Entries on the page: whoever made them can be chosen even when they are gone. */
  readonly seen: readonly RowOf<'GET /v1/audit-log'>[]
  readonly onChange: (search: AuditSearch) => void
}) {
  const actors = useActors(seen, search.actor)
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
      aria-label="Filter"
      noValidate
      onSubmit={(event) => event.preventDefault()}
      className="grid grid-cols-2 items-end gap-3 border-b border-line px-5 py-4 xl:grid-cols-[repeat(5,minmax(0,1fr))_auto]"
    >
      <SelectField
        label="By"
        value={search.actor ?? ''}
        onChange={(event) => change({ actor: event.target.value })}
      >
        <option value="">Anybody</option>
        {[...actors].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
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
      >
        <option value="">Anything</option>
        {RESOURCES.map((resource) => (
          <option key={resource} value={resource}>
            {RESOURCE_WORDS[resource]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Change"
        className="col-span-2 xl:col-span-1"
        value={search.action ?? ''}
        onChange={({ target: { value } }) =>
          change({ action: isAction(value) ? value : undefined })
        }
      >
        <option value="">Any change</option>
        {actions.map((action) => (
          <option key={action} value={action}>
            {ACTION_WORDS[action]}
          </option>
        ))}
      </SelectField>
      <TextField
        label="From"
        type="date"
        max={search.to}
        value={search.from ?? ''}
        onChange={(event) => change({ from: event.target.value })}
      />
      <TextField
        label="Until"
        type="date"
        min={search.from}
        value={search.to ?? ''}
        onChange={(event) => change({ to: event.target.value })}
      />
      <Button disabled={Object.keys(search).length === 0} onClick={() => onChange({})}>
        Reset
      </Button>
    </form>
  )
}

/** Id → name, of everybody who can have made a change. */
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
    if (!actors.has(actor.id))
      actors.set(
        actor.id,
        actor.type === 'key' ? `Key “${actor.name ?? actor.id}”` : (actor.name ?? actor.id),
      )
  }
  if (chosen !== undefined && !actors.has(chosen)) actors.set(chosen, chosen)
  return actors
}
