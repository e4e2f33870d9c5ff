/**
 * How long the event loop is blocked while a node follows `size` changes of 100,000 keys by other
 * nodes. The same number of changes is followed first: code is compiled again at about its
 * hundredth run, and the turn that waited for the compiler was the longest. Postgres only, because
 * SQLite has one process.
 */
import { ChangeFollowers, type Followers } from '../../src/cluster/change-followers.ts'
import { KeyRegistry } from '../../src/snapshots/key-registry.ts'
import type { FollowedChange } from '../../src/store/changes/change-feed.ts'
import type { Store } from '../../src/store/open-store.ts'
import { measureHold } from './longest-hold.ts'
import { ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { numberedAccount, seedKeys, UNLIMITED } from './seed-keys.ts'
import { withStore } from './with-store.ts'

const KEYS = 100_000

export const scenario: Scenario = {
  title: `changes followed of ${KEYS.toLocaleString('en-US')} keys, changes`,
  sizes: [100, 10_000],
  quickSizes: [100, 1_000],
  stores: ['Postgres'],
  bars: { 'took a change, µs': { type: 'ratio', most: 1.5 }, ...TURN_BAR },
  async run(size) {
    const work = async (store: Store) => {
      const ids = await seedKeys(store, KEYS)
      const key = await KeyRegistry.load({ keys: store.keys, limitsOf: () => UNLIMITED })
      const followers = new ChangeFollowers({ key } as unknown as Followers, () => [])
      const changes = ids.map(
        (resourceId, number): FollowedChange => ({
          seq: number + 1,
          accountId: numberedAccount(number),
          resourceType: 'key',
          resourceId,
          operation: 'update',
        }),
      )
      await followers.follow(changes.slice(-size))
      const held = await measureHold(() => followers.follow(changes.slice(0, size)))
      await key.close()
      return { 'took a change, µs': (held.ms * 1_000) / size, ...ofTurns(held) }
    }
    return await withStore('Postgres', work, { isDurable: false })
  },
}
