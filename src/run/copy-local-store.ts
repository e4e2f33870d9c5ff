/**
 * `gatehouse store copy`: the local data folder's database into the Postgres that the settings
 * name. No server may run meanwhile.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CopiedStore, CopyProgress } from '../cli/context.ts'
import type { Environment } from '../config/setting-type.ts'
import { readSettings } from '../config/settings.ts'
import { copyStore } from '../store/copy-store.ts'
import {
  describeStore,
  locateStore,
  type StoreLocation,
  withoutStatementLimit,
} from '../store/database/open-database.ts'
import { lockDataFolder } from '../store/installation/data-folder.ts'
import { openStore, type Store } from '../store/open-store.ts'

/**
 * @throws SettingsError, DataFolderInUseError, StoreNotEmptyError, DatabaseUnreachableError, and an
 * Error with the cure when there is nothing to copy
 */
export async function copyLocalStore(
  environment: Environment,
  onProgress?: (progress: CopyProgress) => void,
): Promise<CopiedStore> {
  const { dataFolder, database } = readSettings(environment)
  if (database === undefined) throw new Error('Set DATABASE_URL to the database to copy to.')
  const source = { path: join(dataFolder, 'gatehouse.db') }
  if (!existsSync(source.path))
    throw new Error(`There is no database ${source.path}. Set GATEHOUSE_DATA_DIR to its folder.`)
  const target = locateStore({ dataFolder, database })
  const lock = lockDataFolder(dataFolder)
  try {
    const from = await openStore(source)
    try {
      assertNothingNewer(from, source)
      const to = await openStore(withoutStatementLimit(target))
      try {
        assertNothingNewer(to, target)
        const copied = { from: describeStore(source), to: describeStore(target) }
        const tables = await copyStore(from, to, {
          onProgress,
          // A start that forgets DATABASE_URL would serve what is old from now on. Noted after the
          // commit, it could be missing: the next copy would find the database filled. Should the
          // commit fail after it, the copy can be made again.
          beforeCommit: () => from.installation.noteMove(copied.to),
        })
        return { ...copied, tables }
      } finally {
        await to.close()
      }
    } finally {
      await from.close()
    }
  } finally {
    lock.release()
  }
}

/** Things that a later version added would be left behind, and nobody would know. */
function assertNothingNewer({ newerSteps }: Store, location: StoreLocation): void {
  if (newerSteps.length === 0) return
  throw new Error(
    `A newer version of Gatehouse has added to ${describeStore(location)} (migration ` +
      `${newerSteps.join(', ')}). ` +
      'Copy it with that version. Nothing was changed.',
  )
}
