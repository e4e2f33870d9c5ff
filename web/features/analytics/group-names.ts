/** The names of groups: keys by their names, classes of status and credentials in words. */
import { nameOfCaller } from '../../format/group-name.ts'
import type { GroupName } from './choices.ts'
import type { Sum } from './columns.ts'

const STATUS_NAMES: Readonly<Record<string, string>> = {
  '2xx': '2xx succeeded',
  '4xx': "4xx refused, or the caller's fault",
  '5xx': '5xx failed upstream or here',
}

const CREDENTIAL_NAMES: Readonly<Record<string, string>> = {
  own: 'Own provider key or model',
  platform: "The platform's credential",
}

const NOTHING: Readonly<Record<GroupName, string>> = {
  gate: 'No gate',
  target: 'No target was asked',
  key: 'No key',
  status: 'No status',
  credential: 'No target was asked',
}

export type NameGroup = (sum: Pick<Sum, 'group' | 'isRest'>) => string

/** @param sums that name keys; others are of keys that the account no longer has */
export function toGroupNames(
  by: GroupName,
  sums: readonly Pick<Sum, 'group' | 'name'>[],
): NameGroup {
  const names = new Map(sums.map(({ group, name }) => [group, name]))
  return ({ group, isRest }) => {
    if (isRest) return 'All others'
    if (group === null) return NOTHING[by]
    if (by === 'key') return nameOfCaller(group, names.get(group))
    if (by === 'status') return STATUS_NAMES[group] ?? group
    if (by === 'credential') return CREDENTIAL_NAMES[group] ?? group
    return group
  }
}
