/**
 * Keys of many accounts, put into a store as rows of its own making. Must not know what is measured
 * over them.
 */
import { type ApiKey, hashApiKey, maskApiKey, toPublicKey } from '../../src/core/api-key.ts'
import { type AccountId, createKeyId, type KeyId } from '../../src/core/ids.ts'
import { toAuditRow } from '../../src/store/changes/audit-log.ts'
import type { Store } from '../../src/store/open-store.ts'
import { toKeyRow } from '../../src/store/resources/keys.ts'
import { numberedKey } from '../seed-store.ts'
import { createProgress } from './progress.ts'

const KEYS_OF_AN_ACCOUNT = 10
/** Whole accounts, and far below the parameters that a database takes at once. */
const KEYS_AT_ONCE = 500

/** The account that a key belongs to, by its number. */
export function numberedAccount(keyNumber: number): AccountId {
  return `acct_${Math.floor(keyNumber / KEYS_OF_AN_ACCOUNT)}` as AccountId
}

/** Many at once: one by one, as customers make them, takes Postgres 25 s for a hundred thousand. */
export async function seedKeys(store: Store, count: number): Promise<readonly KeyId[]> {
  const ids: KeyId[] = []
  const tell = createProgress('keys', count)
  while (ids.length < count) {
    const keys = createKeys(ids.length, Math.min(KEYS_AT_ONCE, count - ids.length))
    // An account comes with a user otherwise, who has nothing to do with keys.
    const accounts = [...new Set(keys.map(({ accountId }) => accountId))].map((id) => ({
      id,
      name: 'scale',
      created_at: Date.now(),
    }))
    const changes = keys.map((key) =>
      toAuditRow({
        accountId: key.accountId,
        action: 'key.create',
        resourceId: key.id,
        before: null,
        after: toPublicKey(key),
      }),
    )
    await store.database.transaction().execute(async (transaction) => {
      await transaction.insertInto('accounts').values(accounts).execute()
      await transaction.insertInto('api_keys').values(keys.map(toKeyRow)).execute()
      await transaction.insertInto('audit_log').values(changes).execute()
    })
    for (const { id } of keys) ids.push(id)
    tell(ids.length)
  }
  return ids
}

function createKeys(first: number, count: number): readonly ApiKey[] {
  return Array.from({ length: count }, (_, index) => {
    const text = numberedKey(first + index)
    return {
      accountId: numberedAccount(first + index),
      id: createKeyId(),
      name: `key ${first + index}`,
      sha256: hashApiKey(text),
      maskedPrefix: maskApiKey(text),
      createdAt: Date.now(),
      lastUsedAt: null,
      createdBy: null,
      expiresAt: null,
      previous: null,
    }
  })
}

/** Of keys whose limits are not what is looked at. */
export const UNLIMITED = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentCalls: Number.POSITIVE_INFINITY,
}
