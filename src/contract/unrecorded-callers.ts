/**
 * Finds budgets that count no call, because the account does not record their callers. Loads no zod,
 * because the command line uses this file.
 */

const RECORDED = { membersAndTags: 'members and tags', endUsers: 'end users' } as const
type RecordingSwitch = keyof typeof RECORDED

/** Of the members of a budget that name callers. */
const NEEDED = { endUser: 'endUsers', member: 'membersAndTags', tag: 'membersAndTags' } as const
type CallerMember = keyof typeof NEEDED
const MEMBERS: readonly CallerMember[] = ['endUser', 'member', 'tag']
const EVERY_SWITCH: readonly RecordingSwitch[] = ['membersAndTags', 'endUsers']

type Callers = { readonly [Name in CallerMember | 'scope']?: string | null | undefined }

interface UnrecordedCallers {
  readonly field: CallerMember | 'scope'
  readonly who: string
  /** Attribution settings that record the callers. One of these settings is enough. */
  readonly switches: readonly RecordingSwitch[]
}

/** @returns undefined: the account records calls that the budget counts */
export function findUnrecorded(
  budget: Callers,
  settings: { readonly [Name in RecordingSwitch]?: unknown },
): UnrecordedCallers | undefined {
  const member = MEMBERS.find((name) => budget[name] != null)
  if (member === undefined && budget.scope !== 'each-user') return undefined
  const switches = member === undefined ? EVERY_SWITCH : [NEEDED[member]]
  if (switches.some((name) => settings[name] !== false)) return undefined
  const who = switches.map((name) => RECORDED[name]).join(' and ')
  return { field: member ?? 'scope', who, switches }
}
