/** The name of a gate, target or key in usage sums. Knows no page. */

/** Groups with their own names, by which the log can be filtered too. */
export const NAMED_GROUPS = ['gate', 'target', 'key'] as const
export type NamedGroupBy = (typeof NAMED_GROUPS)[number]

const SHOWN_OF_ID = 12
const USER_ID = /^user_/

interface NamedGroup {
  readonly group: string | null
  /** A gateway of an earlier version does not send it. */
  readonly name?: string | null | undefined
}

/** Gates and targets are their own names; a key without a name was deleted. */
export function nameOfGroup({ group, name }: NamedGroup, by: string): string {
  if (group === null) return ''
  return by === 'key' ? nameOfCaller(group, name) : group
}

/** @param id of a key, or of a member who used the playground */
export function nameOfCaller(id: string, name: string | null | undefined): string {
  if (name != null) return name
  return `${id.slice(0, SHOWN_OF_ID)}… (${USER_ID.test(id) ? 'left' : 'deleted'})`
}
