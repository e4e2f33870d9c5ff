/** What calls with a quota wait for at a start while `size` calls of an outage wait in the journal, with either store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal } from '../../src/ledger/journal.ts'
import { PastUsage } from '../../src/ledger/past-usage.ts'
import { WaitingSegments } from '../../src/ledger/waiting-segments.ts'
import type { Store } from '../../src/store/open-store.ts'
import { type Held, measureHold } from './longest-hold.ts'
import { createCalls, gateOf, keyOf, NOW_MS } from './seed-calls.ts'
import { type DatabaseName, withStore } from './with-store.ts'

const BATCH = 1_000
const HOUR_MS = 3_600_000

export const scenario = {
  name: 'a start after an outage, SQLite',
  run: (size: number) => measureStart('SQLite', size),
}

export async function measureStart(name: DatabaseName, size: number): Promise<Held> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-outage-'))
  try {
    await journalCalls(folder, size)
    return await withStore(name, async (store) => {
      const journal = new Journal(folder)
      return await measureHold(() => readPast(store, journal)).finally(() => journal.close())
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As a node does whose store is away: two looks at what waits pass while the last segments fill. */
export async function journalCalls(folder: string, size: number): Promise<void> {
  const journal = new Journal(folder)
  const waiting = new WaitingSegments({ closed: journal.closed })
  for (let written = 0; written < size; written += BATCH) {
    const calls = createCalls(Math.min(BATCH, size - written), (index) => ({
      keyId: keyOf(written + index),
      gateId: gateOf(written + index),
      startedAt: NOW_MS + Math.floor(((written + index) / size) * HOUR_MS),
    }))
    await Promise.all(calls.map((call) => journal.record(call)))
    await waiting.look()
  }
  journal.close()
}

async function readPast(store: Store, journal: Journal): Promise<void> {
  const past = await PastUsage.open({
    sums: store.usageSums,
    beginnings: store.budgetBeginnings,
    segments: journal.closed.list(),
    onUnreadable: (path, cause) => {
      throw new Error(path, { cause })
    },
  })
  await past.since(0)
}
