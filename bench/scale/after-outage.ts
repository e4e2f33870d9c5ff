/**
 * Starts a node after an outage of the store, with `size` records in the journal: the time until
 * calls with a quota are admitted, and until all records are shipped.
 */
import { createCallId } from '../../src/core/ids.ts'
import { Journal } from '../../src/ledger/journal.ts'
import { createProgress } from './progress.ts'
import { BOTH, type Scenario } from './scenario.ts'
import { createCalls } from './seed-calls.ts'
import { callNode, KEY, keyRecord, seedGate, withNode } from './start-node.ts'
import { useStore, withPlace } from './with-store.ts'

const RECORDS_AT_ONCE = 512
const LOOK_EVERY_MS = 50

export const scenario: Scenario = {
  title: 'after an outage, records that wait',
  sizes: [100_000, 1_000_000],
  quickSizes: [10_000, 100_000],
  stores: BOTH,
  bars: {
    // Each waiting call is counted: docs/decisions/0110-waiting-calls-are-counted-one-by-one.md.
    'first call with a quota after, ms': { type: 'ratio', most: 12 },
    'shipped after, s': { type: 'most', most: 20 },
    'shipping a record, µs': { type: 'ratio', most: 1.5 },
  },
  async run(size, name) {
    return await withPlace(name, async (place) => {
      await useStore(place.location, async (store) => {
        await store.keys.insert(keyRecord())
        await seedGate(store)
      })
      await writeJournal(place.dataFolder, size)
      return await withNode(place, { key: KEY }, async (node) => {
        const startedAt = performance.now()
        await callNode(node, KEY)
        const firstMs = performance.now() - startedAt
        const report = createProgress('bytes left after that many seconds', 0)
        while ((await unshippedBytes(node.url)) > 0) {
          report(Math.round((performance.now() - startedAt) / 1_000))
          await Bun.sleep(LOOK_EVERY_MS)
        }
        const shippedMs = performance.now() - startedAt
        return {
          'first call with a quota after, ms': firstMs,
          'shipped after, s': shippedMs / 1_000,
          'shipping a record, µs': (shippedMs * 1_000) / size,
        }
      })
    })
  },
}

/**
 * Uses the product's own journal, and leaves it as a killed process does. A node whose store is
 * unavailable reads this journal all the time.
 */
export async function writeJournal(dataFolder: string, records: number): Promise<void> {
  const journal = new Journal(dataFolder, { keptRecords: 0 })
  const startedAt = Date.now()
  const report = createProgress('records', records)
  for (let written = 0; written < records; written += RECORDS_AT_ONCE) {
    const some = createCalls(Math.min(RECORDS_AT_ONCE, records - written), () => ({
      id: createCallId(),
      startedAt,
    }))
    await Promise.all(some.map((record) => journal.record(record)))
    report(written)
  }
  journal.close()
}

export async function unshippedBytes(url: string): Promise<number> {
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as {
    readonly checks: { readonly ledger: { readonly unshippedBytes: number } }
  }
  return checks.ledger.unshippedBytes
}
