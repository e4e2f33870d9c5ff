/**
 * Keys of many accounts, put into a store by its own code. Must not know what is measured over
 * them.
 */
import { hashApiKey, maskApiKey } from '../../src/core/api-key.ts'
import { type AccountId, createKeyId, type KeyId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { numberedKey } from '../seed-store.ts'
import { createProgress } from './progress.ts'

const KEYS_OF_AN_ACCOUNT = 10

/** The account that a key belongs to, by its number. */
export function numberedAccount(keyNumber: number): AccountId {
  return `acct_${Math.floor(keyNumber / KEYS_OF_AN_ACCOUNT)}` as AccountId
}

export async function seedKeys(store: Store, count: number): Promise<readonly KeyId[]> {
  const ids: KeyId[] = []
  const createdAt = Date.now()
  const tell = createProgress('keys', count)
  for (let number = 0; number < count; number += 1) {
    const text = numberedKey(number)
    // An account comes with a user otherwise, who has nothing to do with keys.
    if (number % KEYS_OF_AN_ACCOUNT === 0)
      await store.database
        .insertInto('accounts')
        .values({ id: numberedAccount(number), name: 'scale', created_at: createdAt })
        .execute()
    const id = createKeyId()
    await store.keys.insert({
      accountId: numberedAccount(number),
      id,
      name: `key ${number}`,
      sha256: hashApiKey(text),
      maskedPrefix: maskApiKey(text),
      createdAt,
      lastUsedAt: null,
      createdBy: null,
      expiresAt: null,
      previous: null,
    })
    ids.push(id)
    tell(number)
  }
  return ids
}

/** Of keys whose limits are not what is looked at. */
export const UNLIMITED = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentCalls: Number.POSITIVE_INFINITY,
}
