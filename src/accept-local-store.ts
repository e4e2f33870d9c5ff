/** `gatehouse store accept`: the operator's word that this data folder, this store and this master key belong together. */
import type { AcceptedStore } from './cli/context.ts'
import { installationParts } from './compose-installation.ts'
import type { Environment } from './config/environment.ts'
import { readSettings } from './config/settings.ts'
import { lockDataFolder } from './store/data-folder.ts'
import { acceptInstallation } from './store/join-installation.ts'
import { describeStore, locateStore } from './store/open-database.ts'
import { openStore } from './store/open-store.ts'

/** @throws SettingsError, MasterKeyError, DataFolderInUseError and store errors */
export async function acceptLocalStore(environment: Environment): Promise<AcceptedStore> {
  const settings = readSettings(environment)
  const lock = lockDataFolder(settings.dataFolder)
  try {
    const location = locateStore(settings)
    const store = await openStore(location)
    try {
      const accepted = await acceptInstallation(installationParts(settings, store))
      return { store: describeStore(location), accepted }
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}
