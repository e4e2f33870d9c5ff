/**
 * `gatehouse store accept`: the operator's word that this data folder, this store and this master
 * key belong together.
 */
import type { AcceptedStore } from '../cli/context.ts'
import { describeOtherRedis } from '../cluster/describe-other-redis.ts'
import type { Environment } from '../config/setting-type.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { reasonAway } from '../core/errors.ts'
import { describeStore, locateStore } from '../store/database/open-database.ts'
import { lockDataFolder } from '../store/installation/data-folder.ts'
import type { Installation } from '../store/installation/installation.ts'
import { acceptInstallation } from '../store/installation/join-installation.ts'
import { openStore } from '../store/open-store.ts'
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

/** It comes after the store: whose that is decides whose Redis has to be. */
async function acceptRedis(
  { database, redis }: Pick<Settings, 'database' | 'redis'>,
  installation: Installation | undefined,
): Promise<{ readonly accepted?: string; readonly unasked?: string }> {
  // Nodes with a file each have an id each, and none is the right one.
  if (database === undefined || redis === undefined || installation === undefined) return {}
  const { takeRedis } = await import('../cluster/redis-installation.ts')
  try {
    const found = await takeRedis(redis, installation.id)
    if (found === undefined) return {}
    const described = describeOtherRedis(redis, { found, expected: installation.id })
    return {
      accepted: `${described} What it had counted is forgotten, and filled again from the database.`,
    }
  } catch (error) {
    // A start does not need it either.
    return {
      unasked:
        `Redis could not be asked (${reasonAway(error)}): should it be another installation's, run this ` +
        'again when it answers.',
    }
  }
}
