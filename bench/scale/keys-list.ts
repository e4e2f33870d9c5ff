/** An account lists its ten keys, of `size` keys of all accounts. */
import { KeyRegistry } from '../../src/snapshots/key-registry.ts'
import type { Store } from '../../src/store/open-store.ts'
import { measureHold } from './longest-hold.ts'
import { BOTH, type Scenario } from './scenario.ts'
import { numberedAccount, seedKeys, UNLIMITED } from './seed-keys.ts'
import { withStore } from './with-store.ts'

const LISTS = 10_000

export const scenario: Scenario = {
  title: "one account's keys listed, keys of all",
  sizes: [10_000, 100_000],
  quickSizes: [1_000, 10_000],
  stores: BOTH,
  bars: { 'took a list, µs': { type: 'ratio', most: 2 } },
  async run(size, name) {
    const work = async (store: Store) => {
      await seedKeys(store, size)
      const registry = await KeyRegistry.load({ keys: store.keys, limitsOf: () => UNLIMITED })
      const listMany = () => {
        for (let number = 0; number < LISTS; number += 1)
          registry.list(numberedAccount((number * 7_919) % size))
      }
      listMany()
      const held = await measureHold(async () => listMany())
      await registry.close()
      return { 'took a list, µs': (held.ms * 1_000) / LISTS }
    }
    return await withStore(name, work, { isDurable: false })
  },
}
