/** `gatehouse store`: what commands do to the store of this machine's settings. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AcceptedStore, AdoptedStore, CopiedStore, CopyProgress } from '../cli/context.ts'
import { describeOtherRedis } from '../cluster/describe-other-redis.ts'
import type { Environment } from '../config/setting-type.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { reasonAway } from '../core/errors.ts'
import { listOlderSegments } from '../ledger/segment-reader.ts'
import { copyStore } from '../store/copy-store.ts'
import {
  describeStore,
  locateStore,
  openExistingDatabase,
  type StoreLocation,
  withoutStatementLimit,
} from '../store/database/open-database.ts'
import { lockDataFolder } from '../store/installation/data-folder.ts'
import type { Installation } from '../store/installation/installation.ts'
import { acceptInstallation } from '../store/installation/join-installation.ts'
import { listWorkerFolders, workerFolder } from '../store/installation/worker-folders.ts'
import { adoptDatabase, findSteps } from '../store/migrations/adopt-database.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { installationParts } from './compose-installation.ts'

/** @throws SettingsError, MasterKeyError, DataFolderInUseError and store errors */
export async function acceptLocalStore(environment: Environment): Promise<AcceptedStore> {
  const settings = readSettings(environment)
  const lock = lockDataFolder(settings.dataFolder)
  try {
    const location = locateStore(settings)
    const store = await openStore(location)
    try {
      const accepted = await acceptInstallation(installationParts(settings, store))
      const ofRedis = await acceptRedis(settings, await store.installation.read())
      return {
        store: describeStore(location),
        accepted: ofRedis.accepted === undefined ? accepted : [...accepted, ofRedis.accepted],
        unasked: ofRedis.unasked ?? null,
      }
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

/** Runs after the store is accepted, because Redis must carry the store's installation id. */
async function acceptRedis(
  { database, redis }: Pick<Settings, 'database' | 'redis'>,
  installation: Installation | undefined,
): Promise<{ readonly accepted?: string; readonly unasked?: string }> {
  if (database === undefined || redis === undefined || installation === undefined) return {}
  const { takeRedis } = await import('../cluster/redis-store.ts')
  try {
    const found = await takeRedis(redis, installation.id)
    if (found === undefined) return {}
    const described = describeOtherRedis(redis, { found, expected: installation.id })
    return {
      accepted: `${described} Its counters were cleared and filled again from the database.`,
    }
  } catch (error) {
    return {
      unasked:
        `Redis could not be asked (${reasonAway(error)}). If it belongs to another installation, run this ` +
        'again when it answers.',
    }
  }
}

export async function adoptLocalStore(
  environment: Environment,
  isDryRun: boolean,
): Promise<AdoptedStore> {
  const { dataFolder, database: address } = readSettings(environment)
  const location = locateStore({ dataFolder, database: address })
  const store = describeStore(location)
  const lock = isDryRun ? undefined : lockDataFolder(dataFolder)
  try {
    const database = await openExistingDatabase(location)
    if (database === undefined) throw nothingToAdopt(store)
    try {
      const found = await findSteps(database)
      if (found.state === 'new') throw nothingToAdopt(store)
      if (found.state === 'refused')
        throw new Error(
          `${store} cannot be adopted. ${found.problem} Nothing was changed. ${found.remedy}`,
        )
      if (found.state === 'current') return { store, state: 'already adopted' }
      await assertJournalIsShipped(dataFolder)
      if (isDryRun) return { store, state: 'adoptable' }
      // Another machine may have adopted the database meanwhile.
      const { state } = await adoptDatabase(database)
      return { store, state: state === 'adoptable' ? 'adopted' : 'already adopted' }
    } finally {
      await database.destroy()
    }
  } finally {
    lock?.release()
  }
}

/** Only the build that wrote older lines reads them, and that build refuses an adopted database. */
async function assertJournalIsShipped(dataFolder: string): Promise<void> {
  const workers = listWorkerFolders(dataFolder).map((index) => workerFolder(dataFolder, index))
  for (const folder of [dataFolder, ...workers]) {
    const [path] = await listOlderSegments(folder)
    if (path === undefined) continue
    throw new Error(
      `The journal has calls that are not in the database yet (${path}). Nothing was changed. ` +
        'Start the build that wrote them, stop it with SIGTERM, and run this again.',
    )
  }
}

function nothingToAdopt(store: string): Error {
  return new Error(
    `There is nothing to adopt: ${store} is new. ` +
      'Set GATEHOUSE_DATA_DIR or DATABASE_URL as for the server.',
  )
}

/**
 * @throws SettingsError, DataFolderInUseError, StoreNotEmptyError, DatabaseUnreachableError, and an
 * Error with the remedy when the source is empty
 */
export async function copyLocalStore(
  environment: Environment,
  onProgress?: (progress: CopyProgress) => void,
): Promise<CopiedStore> {
  const { dataFolder, database } = readSettings(environment)
  if (database === undefined) throw new Error('Set DATABASE_URL to the database to copy to.')
  const source = { path: join(dataFolder, 'gatehouse.db') }
  if (!existsSync(source.path))
    throw new Error(
      `The database ${source.path} does not exist. Set GATEHOUSE_DATA_DIR to its folder.`,
    )
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
          // Noted before the commit: otherwise a start without DATABASE_URL would serve old data,
          // and a repeated copy would find a filled database. If the commit fails, the copy can be
          // repeated.
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

function assertNothingNewer({ newerSteps }: Store, location: StoreLocation): void {
  if (newerSteps.length === 0) return
  throw new Error(
    `A newer version of Gatehouse has extended ${describeStore(location)} (migration ` +
      `${newerSteps.join(', ')}). ` +
      'Copy the database with that version. Nothing was changed.',
  )
}
