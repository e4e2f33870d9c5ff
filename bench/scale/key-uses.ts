/** `size` keys were used since the last flush: how long writing that holds the loop. */
import { KeyRegistry } from '../../src/snapshots/key-registry.ts'
import type { Store } from '../../src/store/open-store.ts'
import { measureHold } from './longest-hold.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { seedKeys, UNLIMITED } from './seed-keys.ts'
import { withStore } from './with-store.ts'

export const scenario: Scenario = {
  title: 'last use of keys written, keys',
  sizes: [10_000, 100_000],
  quickSizes: [1_000, 10_000],
  stores: BOTH,
  bars: { 'took a key, µs': { type: 'ratio', most: 1.5 }, ...TURN_BAR },
  async run(size, name) {
    const work = async (store: Store) => {
      const ids = await seedKeys(store, size)
      const registry = await KeyRegistry.load({ keys: store.keys, limitsOf: () => UNLIMITED })
      for (const id of ids) registry.touch(id, Date.now())
      const held = await measureHold(() => registry.flush())
      await registry.close()
      return { 'took a key, µs': (held.ms * 1_000) / size, ...ofTurns(held) }
    }
    return await withStore(name, work, { isDurable: false })
  },
}
