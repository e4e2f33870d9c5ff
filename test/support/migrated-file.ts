/**
 * An SQLite file with our tables, created once per test file and copied, because migrating takes
 * longer than most tests.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

let migrated: Promise<Uint8Array> | undefined

export async function writeMigratedFile(path: string): Promise<void> {
  migrated ??= readMigrated()
  writeFileSync(path, await migrated, { mode: 0o600 })
}

/** A store over a copy of the file, which is deleted after closing. */
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
 * The last connection to close writes the write-ahead log into the file, so the file is complete.
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
