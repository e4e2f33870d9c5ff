/**
 * Starts the program on a store with `size` keys: the time until it is ready, and its memory for
 * each key. Starting the sources takes three tenths of a second longer at every size.
 */
import { privateBytes } from '../../test/support/process-figures.ts'
import { buildProgram, PROGRAM } from '../program.ts'
import { numberedKey } from '../seed-store.ts'
import { BOTH, type Scenario } from './scenario.ts'
import { seedKeys } from './seed-keys.ts'
import { withNode } from './start-node.ts'
import { type DatabaseName, type Place, useStore, withPlace } from './with-store.ts'

/** After this time the collector has freed the memory that only the start needed. */
const SETTLES_MS = 5_000
const LOOK_EVERY_MS = 2

interface Started {
  readonly readyMs: number
  readonly bytes: number
}

export const scenario: Scenario = {
  title: 'a node started, keys',
  /**
   * A start retains about 15 MB of what reading the keys used, which would dominate the memory of
   * few keys.
   */
  sizes: [50_000, 100_000],
  quickSizes: [5_000, 10_000],
  stores: BOTH,
  bars: {
    'ready after, ms': { type: 'most', most: 1_000 },
    'memory a key, bytes': { type: 'most', most: 1_350 },
  },
  prepare: buildProgram,
  async run(size, name) {
    const empty = await start(name, 0)
    const filled = await start(name, size)
    return {
      'ready after, ms': filled.readyMs,
      'ready after without keys, ms': empty.readyMs,
      'memory, MB': filled.bytes / 1e6,
      'memory a key, bytes': (filled.bytes - empty.bytes) / size,
    }
  },
}

async function start(name: DatabaseName, keys: number): Promise<Started> {
  const work = async (place: Place) => {
    await useStore(place.location, (store) => seedKeys(store, keys))
    return await withNode(
      place,
      { key: numberedKey(0), program: PROGRAM },
      async ({ url, pid }, startedAt) => {
        while (!(await fetch(`${url}/readyz`)).ok) await Bun.sleep(LOOK_EVERY_MS)
        const readyMs = performance.now() - startedAt
        await Bun.sleep(SETTLES_MS)
        return { readyMs, bytes: await privateBytes(pid) }
      },
    )
  }
  return await withPlace(name, work, { isDurable: false })
}
