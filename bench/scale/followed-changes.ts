/** 1,000 of `size` keys were changed elsewhere: how long following that holds the loop, on Postgres. */

import { ChangeFollowers, type Followers } from '../../src/cluster/change-followers.ts'
import { KeyRegistry } from '../../src/cluster/key-registry.ts'
import type { FollowedChange } from '../../src/store/change-feed.ts'
import { measureHold } from './longest-hold.ts'
import { numberedAccount, seedKeys } from './seed-keys.ts'
import { withStore } from './with-store.ts'

const CHANGED = 1_000
const unlimited = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentCalls: Number.POSITIVE_INFINITY,
}

export const scenario = {
  name: `${CHANGED} followed changes of keys`,
  async run(size: number) {
    return await withStore('Postgres', async (store) => {
      const ids = await seedKeys(store, size)
      const key = await KeyRegistry.load({ keys: store.keys, limitsOf: () => unlimited })
      const followers = new ChangeFollowers({ key } as unknown as Followers)
      const changes = ids.slice(0, CHANGED).map(
        (resourceId, number): FollowedChange => ({
          seq: number + 1,
          accountId: numberedAccount(number),
          resourceType: 'key',
          resourceId,
          operation: 'update',
        }),
      )
      const held = await measureHold(() => followers.follow(changes))
      await key.close()
      return held
    })
  },
}
