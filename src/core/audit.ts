/**
 * A change in the audit log: its author, its thing, before and after. Knows no store, and
 * no secret ever.
 */
import type { AccountId, AuditId } from './ids.ts'
import { type AuditedAction, RESOURCE_ENTRIES } from './resource-table.ts'

/**
 * Every change that is written down, `resource.verb`. The audit log can neither hold nor be asked
 * for anything else.
 */
export const AUDITED_ACTIONS: readonly AuditedAction[] = RESOURCE_ENTRIES.flatMap(
  ([word, { actions }]) => Object.keys(actions).map((verb) => `${word}.${verb}` as AuditedAction),
)

/** The part of an action before the dot. */
export function resourceOf(action: AuditedAction): string {
  return action.slice(0, action.indexOf('.'))
}

export const ACTOR_TYPES = ['key', 'user', 'operator'] as const

export interface ChangeActor {
  /**
   * `operator`: a process on the gateway's own machine, such as the command line on the local data
   * folder.
   */
  readonly type: (typeof ACTOR_TYPES)[number]
  /** Of the key or the user; `local` for the operator. */
  readonly id: string
  /** Its name then; null where it has none. */
  readonly name: string | null
}

/** The origin of a change. */
export interface ChangeOrigin {
  /** Null: nobody has said who they are, as in a sign-up. The change itself then has to know. */
  readonly actor: ChangeActor | null
  /** The answer's `x-request-id`; null: there was no request. */
  readonly requestId: string | null
  readonly clientAddress: string | null
}

/** The public form of a thing: the members that the interface answers with, and no more. */
export type PublicForm = Readonly<Record<string, unknown>>

export interface Change {
  readonly accountId: AccountId
  readonly action: AuditedAction
  readonly resourceId: string
  /** Null: it was not there. */
  readonly before: PublicForm | null
  /** Null: it is gone. */
  readonly after: PublicForm | null
  /** Its author, where the origin cannot know. */
  readonly actor?: ChangeActor
}

export interface AuditRecord extends Omit<Change, 'actor'>, Omit<ChangeOrigin, 'actor'> {
  readonly id: AuditId
  readonly resourceType: string
  readonly actor: ChangeActor
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}
