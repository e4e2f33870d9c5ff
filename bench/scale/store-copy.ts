/**
 * Copies a store with `size` keys, and with the keys' log of changes, from the other kind of
 * database into this kind.
 */
import { copyStore } from '../../src/store/copy-store.ts'
import { measureHold } from './longest-hold.ts'
import { createProgress } from './progress.ts'
import { BOTH, type Scenario } from './scenario.ts'
import { seedKeys } from './seed-keys.ts'
import { withStore } from './with-store.ts'

export const scenario: Scenario = {
  title: 'store copied into, keys',
  sizes: [18_000, 180_000],
  quickSizes: [2_000, 20_000],
  stores: BOTH,
  bars: { 'took a key, µs': { type: 'ratio', most: 1.5 } },
  async run(size, name) {
    const source = name === 'Postgres' ? 'SQLite' : 'Postgres'
    return await withStore(
      source,
      async (from) => {
        await seedKeys(from, size)
        const report = createProgress('copied rows of a table', size)
        const held = await withStore(name, (to) =>
          measureHold(() => copyStore(from, to, { onProgress: ({ rows }) => report(rows) })),
        )
        return { 'took a key, µs': (held.ms * 1_000) / size, 'took, s': held.ms / 1_000 }
      },
      { isDurable: false },
    )
  },
}
