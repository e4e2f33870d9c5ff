/** A file with `size` keys and their log of changes is copied to Postgres. */
import { copyStore } from '../../src/store/copy-store.ts'
import { measureHold } from './longest-hold.ts'
import { seedKeys } from './seed-keys.ts'
import { withStore } from './with-store.ts'

export const scenario = {
  name: 'store copy',
  async run(size: number) {
    return await withStore('SQLite', async (from) => {
      await seedKeys(from, size)
      return await withStore('Postgres', (to) => measureHold(() => copyStore(from, to)))
    })
  },
}
