/**
 * How long the event loop is blocked while the last uses of `size` keys are written. The same
 * number is written first: code that never ran took four turns of 2 to 6 ms. On SQLite, the thread
 * that moves the log into the database file starts with the first large flush of a process, which
 * blocks one turn for 3 to 9 ms.
 */
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
      const now = Date.now()
      for (const id of ids) registry.touch(id, now)
      await registry.flush()
      for (const id of ids) registry.touch(id, now + 1)
      const held = await measureHold(() => registry.flush())
      await registry.close()
      return { 'took a key, µs': (held.ms * 1_000) / size, ...ofTurns(held) }
    }
    return await withStore(name, work, { isDurable: false })
  },
}
