import type { HASHED_KINDS } from '../../src/contract/words.ts'

/** Groups with their own names, by which the log can be filtered too. */
export type NamedGroupBy = 'gate' | 'target' | 'key' | (typeof HASHED_KINDS)[number]

const SHOWN_OF_ID = 12
const USER_ID = /^user_/

interface NamedGroup {
  readonly group: string | null
  /** An earlier version of the gateway does not send the name. */
  readonly name?: string | null | undefined
}

/** The name of a gate or target is its id. A key without a name was deleted. */
export function nameOfGroup({ group, name }: NamedGroup, by: string): string {
  if (group === null) return ''
  if (by === 'user') return nameOfUser(group, name)
  if (by === 'tag') return name ?? group
  return by === 'key' ? nameOfCaller(group, name) : group
}

/** End users have a name only if the account stores their names. */
export function nameOfUser(id: string, name: string | null | undefined): string {
  if (name != null) return name
  if (id === '(erased)') return 'Erased end users'
  return id.startsWith('end:') ? `End user ${id.slice('end:'.length)}` : nameOfCaller(id, name)
}

export function nameOfCaller(id: string, name: string | null | undefined): string {
  if (name != null) return name
  if (id === '(playground)') return 'Playground'
  return `${id.slice(0, SHOWN_OF_ID)}… (${USER_ID.test(id) ? 'left' : 'deleted'})`
}
