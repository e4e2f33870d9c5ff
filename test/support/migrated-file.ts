/**
 * An SQLite file with our tables, made once for a test file and copied: the schema's history takes
 * longer than most tests.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

let migrated: Promise<Uint8Array> | undefined

/** As `openStore` leaves a file that was not there, and closed again. */
export async function writeMigratedFile(path: string): Promise<void> {
  migrated ??= readMigrated()
  writeFileSync(path, await migrated, { mode: 0o600 })
}

/** A store over such a file, which is gone once it is closed. */
export async function openMigratedStore(): Promise<Store> {
  const folder = await createTemporaryFolder()
  const path = join(folder.path, 'gatehouse.db')
  await writeMigratedFile(path)
  const store = await openStore({ path })
  return {
    ...store,
    close: async () => {
      await store.close()
      await folder.remove()
    },
  }
}

/**
 * The last connection to close writes the write-ahead log into the file and deletes it: the file is
 * all there is.
 */
async function readMigrated(): Promise<Uint8Array> {
  const folder = await createTemporaryFolder()
  try {
    const path = join(folder.path, 'gatehouse.db')
    await (await openStore({ path })).close()
    return readFileSync(path)
  } finally {
    await folder.remove()
  }
}
