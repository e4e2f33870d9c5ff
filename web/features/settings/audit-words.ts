/** The changes that the audit log knows, in words. The types hold it to the interface: an action without its words does not compile. */
import type { QuestionOf, RowOf } from '../../api/ask.ts'

type AuditQuery = NonNullable<NonNullable<QuestionOf<'GET /v1/audit-log'>[0]>['query']>
export type AuditAction = NonNullable<AuditQuery['action']>
export type AuditResource = NonNullable<AuditQuery['resourceType']>

export const ACTION_WORDS = {
  'gate.create': 'Created a gate',
  'gate.update': 'Changed a gate',
  'gate.delete': 'Deleted a gate',
  'key.create': 'Created an API key',
  'key.import': 'Imported an API key',
  'key.update': 'Changed an API key',
  'key.rotate': 'Rotated an API key',
  'key.delete': 'Deleted an API key',
  'provider-key.create': 'Added a provider key',
  'provider-key.update': 'Changed a provider key',
  'provider-key.delete': 'Deleted a provider key',
  'owned-model.create': 'Registered an owned model',
  'owned-model.update': 'Changed an owned model',
  'owned-model.delete': 'Deleted an owned model',
  'master-key.rotate': 'Rotated the master key',
  'account.update': 'Renamed the account',
  'member.create': 'Joined the account',
  'member.update': 'Handed the account on',
  'member.delete': 'Removed a member',
  'invitation.create': 'Invited somebody',
  'invitation.delete': 'Revoked an invitation',
  'budget.create': 'Created a budget',
  'budget.update': 'Changed a budget',
  'budget.delete': 'Deleted a budget',
  'webhook.create': 'Added a webhook',
  'webhook.update': 'Changed a webhook',
  'webhook.delete': 'Deleted a webhook',
  'user.set-password': 'Set a password',
} as const satisfies Record<AuditAction, string>

export const RESOURCE_WORDS = {
  gate: 'Gates',
  key: 'API keys',
  'provider-key': 'Provider keys',
  'owned-model': 'Owned models',
  'master-key': 'Master key',
  account: 'Account',
  member: 'Members',
  invitation: 'Invitations',
  budget: 'Budgets',
  webhook: 'Webhooks',
  user: 'Users',
} as const satisfies Record<AuditResource, string>

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
