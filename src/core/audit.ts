/**
 * A change in the audit log: actor, resource, before and after. Knows no store, and never contains
 * a secret.
 */
import type { AccountId, AuditId } from './ids.ts'
import { type AuditedAction, RESOURCE_ENTRIES } from './resource-table.ts'

/** Every audited action, `resource.verb`. The audit log accepts no others. */
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
  /** Id of the key or the user; `local` for the operator. */
  readonly id: string
  /** Its name at that time; null: none. */
  readonly name: string | null
}

/** The origin of a change. */
export interface ChangeOrigin {
  /** Null: not authenticated, as in a sign-up; the change itself must then name its actor. */
  readonly actor: ChangeActor | null
  /** The answer's `x-request-id`; null: there was no request. */
  readonly requestId: string | null
  readonly clientAddress: string | null
}

/** The public form of a resource: only the members that the API returns. */
export type PublicForm = Readonly<Record<string, unknown>>

export interface Change {
  readonly accountId: AccountId
  readonly action: AuditedAction
  readonly resourceId: string
  /** Null: it did not exist. */
  readonly before: PublicForm | null
  /** Null: it was deleted. */
  readonly after: PublicForm | null
  /** Its actor, when the origin cannot know it. */
  readonly actor?: ChangeActor
}

export interface AuditRecord extends Omit<Change, 'actor'>, Omit<ChangeOrigin, 'actor'> {
  readonly id: AuditId
  readonly resourceType: string
  readonly actor: ChangeActor
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}
