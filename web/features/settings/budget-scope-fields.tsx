/** The key or the gate of the account that a budget limits. */
import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from '../../api/operation-query.ts'
import { SelectField } from '../../ui/field.tsx'

export interface BudgetScope {
  readonly type: 'key' | 'gate'
  /** Empty: not chosen yet. */
  readonly id: string
}

export function BudgetScopeFields({
  scope,
  onChange,
}: {
  readonly scope: BudgetScope
  readonly onChange: (scope: BudgetScope) => void
}) {
  const keys = useQuery(wholeListQuery('GET /v1/keys'))
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const list = scope.type === 'key' ? keys : gates
  const choices =
    scope.type === 'key'
      ? keys.data?.map(({ id, name, maskedPrefix }) => ({ id, name: `${name} (${maskedPrefix})` }))
      : gates.data?.map(({ id }) => ({ id, name: id }))
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
      <SelectField
        label={scope.type === 'key' ? 'Key' : 'Gate'}
        required
        value={scope.id}
        onChange={(event) => onChange({ ...scope, id: event.target.value })}
        problem={list.isError ? 'The list could not be loaded.' : undefined}
        field={scope.type === 'key' ? 'keyId' : 'gateId'}
      >
        <option value="" disabled>
          {choices === undefined
            ? 'Loading…'
            : choices.length === 0
              ? 'There is none yet'
              : 'Choose one'}
        </option>
        {choices?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </div>
  )
}
