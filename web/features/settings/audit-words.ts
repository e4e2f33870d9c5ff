/**
 * The changes that the audit log knows, in words. The types hold it to the interface: an action
 * without its words does not compile.
 */
import words from '../../../src/contract/audit-words.generated.json' with { type: 'json' }
import type { QuestionOf, RowOf } from '../../api/ask.ts'

type AuditQuery = NonNullable<NonNullable<QuestionOf<'GET /v1/audit-log'>[0]>['query']>
export type AuditAction = NonNullable<AuditQuery['action']>
export type AuditResource = NonNullable<AuditQuery['resourceType']>

export const ACTION_WORDS = words.actions satisfies Record<AuditAction, string>

export const RESOURCE_WORDS = words.resources satisfies Record<AuditResource, string>

export const ACTIONS = Object.keys(ACTION_WORDS) as readonly AuditAction[]
export const RESOURCES = Object.keys(RESOURCE_WORDS) as readonly AuditResource[]

export function isAction(text: unknown): text is AuditAction {
  return typeof text === 'string' && Object.hasOwn(ACTION_WORDS, text)
}

export function isResource(text: unknown): text is AuditResource {
  return typeof text === 'string' && Object.hasOwn(RESOURCE_WORDS, text)
}

/** An action that this page is too old to know is shown as it is called. */
export function describeChange({
  action,
  actor,
  resourceId,
}: Pick<RowOf<'GET /v1/audit-log'>, 'action' | 'actor' | 'resourceId'>): string {
  if (action === 'member.delete' && actor.id === resourceId) return 'Left the account'
  return isAction(action) ? ACTION_WORDS[action] : action
}
