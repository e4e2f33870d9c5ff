/** Groups with their own names, by which the log can be filtered too. */
export const NAMED_GROUPS = ['gate', 'target', 'key'] as const
export type NamedGroupBy = (typeof NAMED_GROUPS)[number]

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
  return by === 'key' ? nameOfCaller(group, name) : group
}

export function nameOfCaller(id: string, name: string | null | undefined): string {
  if (name != null) return name
  return `${id.slice(0, SHOWN_OF_ID)}… (${USER_ID.test(id) ? 'left' : 'deleted'})`
}
