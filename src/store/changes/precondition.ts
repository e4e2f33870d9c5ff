/**
 * Makes a change only if the resource still has the version that the author has seen (`If-Match`).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import { type Change, resourceOf } from '../../core/audit.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ResourceWord } from '../../core/resource-table.ts'
import { toVersionTag } from '../../core/version-tag.ts'
import type { Schema } from '../schema.ts'

export interface Precondition {
  readonly word: ResourceWord
  readonly id: string
  readonly versions: 'any' | readonly string[]
}

const conditions = new AsyncLocalStorage<{ readonly of: Precondition; wasLookedAt: boolean }>()

/**
 * Runs `work`, in which changes of the named resource require its version.
 * @returns the result of `work`, and whether the resource was changed
 * @throws GatewayError `precondition_failed`
 */
export async function withPrecondition<Result>(
  of: Precondition,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly wasLookedAt: boolean }> {
  const condition = { of, wasLookedAt: false }
  const result = await conditions.run(condition, work)
  return { result, wasLookedAt: condition.wasLookedAt }
}

export function isMet({ versions }: Precondition, tag: string | undefined): boolean {
  return tag !== undefined && (versions === 'any' || versions.includes(tag))
}

export async function assertPrecondition(
  transaction: Transaction<Schema>,
  change: Change,
): Promise<void> {
  const condition = conditions.getStore()
  const { word, id } = condition?.of ?? {}
  if (condition === undefined || word === undefined) return
  if (word !== resourceOf(change.action) || id !== change.resourceId) return
  condition.wasLookedAt = true
  const { before } = change
  if (isMet(condition.of, before === null ? undefined : toVersionTag(word, before))) return
  throw changedMeanwhile(word, await findLastChange(transaction, change))
}

interface LastChange {
  readonly actor_type: string
  readonly actor_id: string
  readonly actor_name: string | null
  readonly at: number
}

async function findLastChange(
  transaction: Transaction<Schema>,
  { accountId, action, resourceId }: Change,
): Promise<LastChange | undefined> {
  return await transaction
    .selectFrom('audit_log')
    .select(['actor_type', 'actor_id', 'actor_name', 'at'])
    .where('account_id', '=', accountId)
    .where('resource_id', '=', resourceId)
    .where('resource_type', '=', resourceOf(action))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export function changedMeanwhile(word: ResourceWord, last?: LastChange): GatewayError {
  const thing = word.replaceAll('-', ' ')
  const how =
    last === undefined
      ? 'Another tab, person or program may have changed it.'
      : `The last change was made at ${new Date(last.at).toISOString()} by the ` +
        `${last.actor_type} ${last.actor_name ?? last.actor_id}.`
  return new GatewayError(
    'precondition_failed',
    `The ${thing} is not the version that If-Match names, so nothing was changed. ${how} ` +
      `Get the ${thing} again and send the change with its new ETag, or without If-Match to overwrite.`,
    last === undefined
      ? {}
      : {
          details: {
            changedBy: { type: last.actor_type, id: last.actor_id, name: last.actor_name },
            changedAt: new Date(last.at).toISOString(),
          },
        },
  )
}
