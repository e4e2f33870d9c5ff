import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from '../../api/operation-query.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { PageLink } from '../../ui/links.tsx'

type Control = Pick<Parameters<typeof TextField>[0], 'value' | 'field'> & {
  readonly onChange: Parameters<typeof SelectField>[0]['onChange'] &
    Parameters<typeof TextField>[0]['onChange']
}

const SHOWN_TAGS = 8

/** Tags of every call with a key or token, as text. */
export function TagsField(control: Control) {
  const tags = useQuery(wholeListQuery('GET /v1/tags'))
  const names = tags.data?.map(({ name }) => name) ?? []
  return (
    <TextField
      label="Tags"
      isOptional
      isCode
      autoComplete="off"
      placeholder="team-a, repo:gatehouse"
      hint={
        tags.isSuccess && names.length === 0 ? (
          <>
            Every call bears these tags. The account has no tags yet:{' '}
            <PageLink to="/settings/tags">create one</PageLink> first.
          </>
        ) : (
          <>
            Every call bears these tags, at most 8, separated by commas. A tag may have a value:
            name:value. {names.length > 0 && `Tags of the account: ${listSome(names)}.`}
          </>
        )
      }
      {...control}
    />
  )
}

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_TAGS).join(', ')
  return names.length > SHOWN_TAGS ? `${shown} and ${names.length - SHOWN_TAGS} more` : shown
}

/** The member whom all calls with an API key count for. */
export function UserField(control: Control) {
  const members = useQuery(wholeListQuery('GET /v1/members'))
  const rows = members.data ?? []
  const isKnown = control.value === '' || rows.some(({ id }) => id === control.value)
  return (
    <SelectField
      label="Counts for"
      hint="All calls with the key count for this member. Without a member, they count for the user that a call names."
      {...control}
    >
      <option value="">No member</option>
      {!isKnown && <option value={control.value}>As now</option>}
      {rows.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}
