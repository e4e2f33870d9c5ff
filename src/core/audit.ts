/** A change in the audit log: actor, resource, before and after. Never contains a secret. */
import type { AccountId, AuditId } from './ids.ts'
import { type AuditedAction, RESOURCE_ENTRIES } from './resource-table.ts'

export const AUDITED_ACTIONS: readonly AuditedAction[] = RESOURCE_ENTRIES.flatMap(
  ([word, { actions }]) => Object.keys(actions).map((verb) => `${word}.${verb}` as AuditedAction),
)

export function resourceOf(action: AuditedAction): string {
  return action.slice(0, action.indexOf('.'))
}

export const ACTOR_TYPES = ['key', 'user', 'operator', 'fuse'] as const

export interface ChangeActor {
  /**
   * `operator`: a process on the gateway's own machine, such as the command line. `fuse`: the
   * gateway, because a fuse blew.
   */
  readonly type: (typeof ACTOR_TYPES)[number]
  /** The id of the key or user; `local` for the operator; for a fuse, its gate or budget. */
  readonly id: string
  readonly name: string | null
}

export interface ChangeOrigin {
  /** Null before authentication, as in a sign-up; the change itself then names its actor. */
  readonly actor: ChangeActor | null
  /** The answer's `x-request-id`; null: the change came from no request. */
  readonly requestId: string | null
  readonly clientAddress: string | null
}

export type PublicForm = Readonly<Record<string, unknown>>

export interface Change {
  readonly accountId: AccountId
  readonly action: AuditedAction
  readonly resourceId: string
  /** Null: the resource was created. */
  readonly before: PublicForm | null
  /** Null: the resource was deleted. */
  readonly after: PublicForm | null
  /** Set when the origin cannot know the actor. */
  readonly actor?: ChangeActor
}

export interface AuditRecord extends Omit<Change, 'actor'>, Omit<ChangeOrigin, 'actor'> {
  readonly id: AuditId
  readonly resourceType: string
  readonly actor: ChangeActor
  readonly at: number
}
