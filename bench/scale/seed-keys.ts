/** Stores keys of many accounts as rows that this file builds itself. */
import { type ApiKey, hashApiKey, maskApiKey, toPublicKey } from '../../src/core/api-key.ts'
import { type AccountId, createKeyId, type KeyId } from '../../src/core/ids.ts'
import { toAuditRow } from '../../src/store/changes/audit-log.ts'
import type { Store } from '../../src/store/open-store.ts'
import { toKeyRow } from '../../src/store/resources/keys.ts'
import { numberedKey } from '../seed-store.ts'
import { createProgress } from './progress.ts'

const KEYS_OF_AN_ACCOUNT = 10
/** A multiple of an account's keys, and far below a database's maximum of parameters. */
const KEYS_AT_ONCE = 500

/** The account of a key, by the key's number. */
export function numberedAccount(keyNumber: number): AccountId {
  return `acct_${Math.floor(keyNumber / KEYS_OF_AN_ACCOUNT)}` as AccountId
}

/**
 * Inserts many rows at once: inserting one by one, as customers do, takes Postgres 25 s for 100,000
 * keys.
 */
export async function seedKeys(store: Store, count: number): Promise<readonly KeyId[]> {
  const ids: KeyId[] = []
  const report = createProgress('keys', count)
  while (ids.length < count) {
    const keys = createKeys(ids.length, Math.min(KEYS_AT_ONCE, count - ids.length))
    // Otherwise an account would be created with a user, which keys do not need.
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
    report(ids.length)
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

/** For keys whose limits are not measured. */
export const UNLIMITED = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentCalls: Number.POSITIVE_INFINITY,
}
