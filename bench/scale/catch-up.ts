/** A node ships `size` calls that waited for the store, with either one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal } from '../../src/ledger/journal.ts'
import { Shipper } from '../../src/ledger/shipper.ts'
import { journalCalls } from './after-outage.ts'
import { type Held, measureHold } from './longest-hold.ts'
import { type DatabaseName, withStore } from './with-store.ts'

export const scenario = {
  name: 'catching up, SQLite',
  run: (size: number) => measureCatchUp('SQLite', size),
}

export async function measureCatchUp(name: DatabaseName, size: number): Promise<Held> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-catch-up-'))
  try {
    await journalCalls(folder, size)
    return await withStore(name, async (store) => {
      const journal = new Journal(folder)
      const shipper = new Shipper(journal, (records, pauseMs) => store.calls.insertMany(records, pauseMs))
      return await measureHold(() => shipper.ship()).finally(() => journal.close())
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
