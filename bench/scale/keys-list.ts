/**
 * An account lists its ten keys among `size` keys of all accounts. At both sizes a hundred accounts
 * list their keys, far apart in memory. If all accounts did, a list among 100,000 keys would take
 * 0.6 µs longer than among 10,000 (1.4 and 0.8), because ten keys have to be loaded into the
 * processor's caches. Lists among ten accounts take 0.65 µs at both sizes.
 */
import { KeyRegistry } from '../../src/snapshots/key-registry.ts'
import type { Store } from '../../src/store/open-store.ts'
import { threadCpuMicros } from '../cpu-clock.ts'
import { BOTH, type Scenario } from './scenario.ts'
import { numberedAccount, seedKeys, UNLIMITED } from './seed-keys.ts'
import { withStore } from './with-store.ts'

const LISTS = 10_000
const ACCOUNTS = 100
/** The smallest time counts, because other work on the machine only adds time. */
const ROUNDS = 10

export const scenario: Scenario = {
  title: "one account's keys listed, keys of all",
  sizes: [10_000, 100_000],
  quickSizes: [1_000, 10_000],
  stores: BOTH,
  bars: { 'took a list, µs of processor': { type: 'ratio', most: 2 } },
  async run(size, name) {
    const work = async (store: Store) => {
      await seedKeys(store, size)
      const registry = await KeyRegistry.load({ keys: store.keys, limitsOf: () => UNLIMITED })
      const listMany = () => {
        const startedAt = threadCpuMicros()
        for (let number = 0; number < LISTS; number += 1)
          registry.list(numberedAccount(Math.floor(((number % ACCOUNTS) * size) / ACCOUNTS)))
        return (threadCpuMicros() - startedAt) / LISTS
      }
      const rounds = Array.from({ length: ROUNDS }, listMany)
      await registry.close()
      return { 'took a list, µs of processor': Math.min(...rounds) }
    }
    return await withStore(name, work, { isDurable: false })
  },
}
