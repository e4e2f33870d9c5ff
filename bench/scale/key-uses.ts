/** `size` keys were used since the last flush: how long writing that holds the loop, on SQLite. */
import { KeyRegistry } from '../../src/cluster/key-registry.ts'
import { measureHold } from './longest-hold.ts'
import { seedKeys } from './seed-keys.ts'
import { withStore } from './with-store.ts'

const unlimited = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentCalls: Number.POSITIVE_INFINITY,
}

export const scenario = {
  name: 'last use of keys',
  async run(size: number) {
    return await withStore('SQLite', async (store) => {
      const ids = await seedKeys(store, size)
      const registry = await KeyRegistry.load({ keys: store.keys, limitsOf: () => unlimited })
      for (const id of ids) registry.touch(id, Date.now())
      const held = await measureHold(() => registry.flush())
      await registry.close()
      return held
    })
  },
}
