/** The changes that the audit log knows, in words. */
import { ACTION_WORDS, RESOURCE_WORDS } from '../../../src/contract/audit-words.ts'
import type { RowOf } from '../../api/ask.ts'

export type AuditAction = keyof typeof ACTION_WORDS
export type AuditResource = keyof typeof RESOURCE_WORDS

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
