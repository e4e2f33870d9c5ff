import { ACTION_WORDS, RESOURCE_WORDS } from '../../../src/contract/audit-words.ts'
import type { RowOf } from '../../api/ask.ts'
import { startOfDay, type TimeZone } from '../../format/time-zone.ts'

export interface AuditSearch {
  readonly actor?: string
  readonly action?: AuditAction
  readonly resourceType?: AuditResource
  readonly resourceId?: string
  /** Days in the pages' time zone, `2026-11-21`, both inclusive. */
  readonly from?: string
  readonly to?: string
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

export function readAuditSearch(search: Readonly<Record<string, unknown>>): AuditSearch {
  const { actor, action, resourceType, resourceId, from, to } = search
  return {
    ...(isText(actor) ? { actor } : {}),
    ...(isAction(action) ? { action } : {}),
    ...(isResource(resourceType) ? { resourceType } : {}),
    ...(isText(resourceId) ? { resourceId } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
  }
}

export function toAuditQuery({ from, to, ...rest }: AuditSearch, zone: TimeZone) {
  return {
    ...rest,
    ...(from === undefined ? {} : { from: new Date(startOfDay(from, zone)).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(startOfDay(to, zone, 1)).toISOString() }),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 300
}

function isDay(value: unknown): value is string {
  return typeof value === 'string' && DAY.test(value) && !Number.isNaN(Date.parse(value))
}

type AuditAction = keyof typeof ACTION_WORDS
type AuditResource = keyof typeof RESOURCE_WORDS

export const ACTIONS = Object.keys(ACTION_WORDS) as readonly AuditAction[]

export function isAction(text: unknown): text is AuditAction {
  return typeof text === 'string' && Object.hasOwn(ACTION_WORDS, text)
}

export function isResource(text: unknown): text is AuditResource {
  return typeof text === 'string' && Object.hasOwn(RESOURCE_WORDS, text)
}

/** An unknown action of a newer version is shown by its code. */
export function describeChange({
  action,
  actor,
  resourceId,
}: Pick<RowOf<'GET /v1/audit-log'>, 'action' | 'actor' | 'resourceId'>): string {
  if (action === 'member.delete' && actor.id === resourceId) return 'Left the account'
  return isAction(action) ? ACTION_WORDS[action] : action
}
