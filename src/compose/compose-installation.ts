/**
 * Joins a data folder, a store and a master key: whoever works with them asks first whether they
 * belong together. Serves nothing.
 */
import { findMasterKeys } from '../config/master-key.ts'
import { ExposedMasterKeyError } from '../config/master-key-file.ts'
import type { Settings } from '../config/settings.ts'
import type { Secret } from '../core/secret.ts'
import { createVault, masterKeyIdOf } from '../core/vault.ts'
import { describeStore, locateStore } from '../store/database/open-database.ts'
import type { Installation } from '../store/installation/installation.ts'
import type { InstallationParts } from '../store/installation/join-installation.ts'
import {
  InstallationWatch,
  type SetBack,
  type StoreStanding,
} from '../store/installation/watch-installation.ts'
import type { Store } from '../store/open-store.ts'
import { SealedRows } from '../store/sealed-rows.ts'
import type { Log } from '../telemetry/log.ts'

/** @throws MasterKeyError when the master key is damaged */
export function installationParts(
  settings: Pick<Settings, 'homeFolder' | 'dataFolder' | 'database' | 'masterKeys'>,
  store: Pick<Store, 'installation' | 'database' | 'sync'>,
): InstallationParts {
  const keys = readMasterKeys(settings)
  return {
    folder: settings.homeFolder,
    where: describeStore(locateStore(settings)),
    installation: store.installation,
    masterKeyIds: keys?.map((key) => masterKeyIdOf(key)),
    async tried() {
      const [current, ...others] = keys ?? []
      const rows = await SealedRows.over(store.database)
      return await rows.tryOneOfEach(
        current === undefined ? undefined : createVault([current, ...others]),
      )
    },
    sync: () => store.sync(),
  }
}

/**
 * @returns undefined where nobody can say: others may read the file, and the part that needs the
 * key reports it
 */
function readMasterKeys({
  homeFolder,
  masterKeys,
}: Pick<Settings, 'homeFolder' | 'masterKeys'>): readonly Secret[] | undefined {
  try {
    return findMasterKeys({ dataFolder: homeFolder, masterKeys }) ?? []
  } catch (error) {
    if (error instanceof ExposedMasterKeyError) return undefined
    throw error
  }
}

interface WatchParts {
  readonly settings: Pick<Settings, 'homeFolder'>
  readonly store: Store
  readonly joined: Installation
  readonly log: Log
  readonly onSetBack: (setBack: SetBack) => void
}

/** Logs what it finds; the caller says who else hears of it. */
export function watchInstallation({
  settings,
  store,
  joined,
  log,
  onSetBack,
}: WatchParts): InstallationWatch {
  return new InstallationWatch({
    folder: settings.homeFolder,
    installation: store.installation,
    joined,
    assertThere: () => store.assertThere(),
    sync: () => store.sync(),
    onStanding(standing) {
      if (standing === 'ok')
        log.info({ installation: joined.id }, 'store: it is the right one again')
      else log.error({ standing, expected: joined.id }, STANDINGS[standing])
    },
    onSetBack(setBack) {
      log.error(
        { fromChange: setBack.from, toChange: setBack.to },
        'store: it was set back in time: what was revoked in between is in force again, but ' +
          'for keys that this node knows as deleted',
      )
      onSetBack(setBack)
    },
  })
}

const STANDINGS: Readonly<Record<Exclude<StoreStanding, 'ok'>, string>> = {
  other:
    'store: it is not the one that this node began with, and this node is not ready: is it ' +
    "another's, or empty?",
  gone:
    'store: its file was removed or replaced, and this node is not ready: put it ' +
    'back, or restart',
}

/** For `/readyz`. */
export function installationCheck({ standing, setBack }: InstallationWatch) {
  const back =
    setBack === undefined
      ? {}
      : {
          setBack: {
            fromChange: setBack.from,
            toChange: setBack.to,
            noticedAt: new Date(setBack.noticedAt).toISOString(),
          },
        }
  return { status: standing, ...back }
}
