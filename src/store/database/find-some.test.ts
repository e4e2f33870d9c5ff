/** Many rows are found with one question, each for who asked for it. */
import { describe, expect, test } from 'bun:test'
import { databases, withTestStore } from '../../../test/support/databases.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../../core/ids.ts'

const stranger = 'acct_stranger' as AccountId

describe.each(databases)('on $name', (kind) => {
  test('rows come in the requested order, of the requested account only', async () => {
    await withTestStore(kind, async (store) => {
      await store.database
        .insertInto('accounts')
        .values({ id: stranger, name: 'Stranger', created_at: 1 })
        .execute()
      const times = { createdAt: 1, updatedAt: 1, lastUsedAt: null }
      const save = (accountId: AccountId, providerId: string) =>
        store.providerKeys.save({
          sealed: `${accountId} ${providerId}`,
          key: { accountId, providerId, maskedKey: '…', isActive: true, ...times },
        })
      for (const providerId of ['a', 'b', 'c']) await save(DEFAULT_ACCOUNT, providerId)
      await save(stranger, 'a')
      const names = [
        [stranger, 'b'],
        [DEFAULT_ACCOUNT, 'c'],
        [stranger, 'a'],
        [DEFAULT_ACCOUNT, 'a'],
        [DEFAULT_ACCOUNT, 'c'],
        [DEFAULT_ACCOUNT, "'; DROP TABLE api_keys; --"],
      ] as const
      const found = await store.providerKeys.findSome(
        names.map(([accountId, id]) => ({ accountId, id })),
      )
      expect(found.map((each) => each?.sealed)).toEqual([
        undefined,
        `${DEFAULT_ACCOUNT} c`,
        `${stranger} a`,
        `${DEFAULT_ACCOUNT} a`,
        `${DEFAULT_ACCOUNT} c`,
        undefined,
      ])
      expect(await store.providerKeys.findSome([])).toEqual([])
    })
  })
})
