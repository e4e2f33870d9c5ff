import { findMasterKeys, type ReportExposure } from '../config/master-key.ts'
import { describeExposure } from '../config/master-key-file.ts'
import { MasterKeyError } from '../config/master-key-variables.ts'
import type { Settings } from '../config/settings.ts'
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

/**
 * @param report called at a start when other users can read the master key; commands omit it and
 * skip the check
 * @throws MasterKeyError when the master key is damaged, or world-readable at a start
 */
export function installationParts(
  settings: Pick<Settings, 'homeFolder' | 'dataFolder' | 'database' | 'masterKeys'>,
  store: Pick<Store, 'installation' | 'database' | 'sync'>,
  report?: ReportExposure,
): InstallationParts {
  const { homeFolder, masterKeys } = settings
  const onExposed: ReportExposure = (exposure) => {
    if (exposure.type === 'everybody') throw new MasterKeyError(describeExposure(exposure))
    report?.(exposure)
  }
  const source = { dataFolder: homeFolder, masterKeys }
  const keys = findMasterKeys(source, report === undefined ? undefined : onExposed) ?? []
  return {
    folder: settings.homeFolder,
    where: describeStore(locateStore(settings)),
    installation: store.installation,
    masterKeyIds: keys.map((key) => masterKeyIdOf(key)),
    async tried() {
      const [current, ...others] = keys
      const rows = await SealedRows.over(store.database)
      return await rows.tryOneOfEach(
        current === undefined ? undefined : createVault([current, ...others]),
      )
    },
    sync: () => store.sync(),
  }
}

export function createExposureReport(log: Pick<Log, 'warn' | 'error'>): ReportExposure {
  const reported = new Set<string>()
  return (exposure) => {
    const { type, path, mode } = exposure
    const answer = JSON.stringify([type, path, mode])
    if (reported.has(answer)) return
    reported.add(answer)
    const level = type === 'everybody' ? 'error' : 'warn'
    log[level]({ path, mode }, describeExposure(exposure))
  }
}

interface WatchParts {
  readonly settings: Pick<Settings, 'homeFolder'>
  readonly store: Store
  readonly joined: Installation
  readonly log: Log
  readonly onSetBack: (setBack: SetBack) => void
}

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
      if (standing === 'ok') log.info({ installation: joined.id }, 'store: the right one is back')
      else log.error({ standing, expected: joined.id }, STANDINGS[standing])
    },
    onSetBack(setBack) {
      log.error(
        { fromChange: setBack.from, toChange: setBack.to },
        'store: it was restored from an earlier state. Later revocations are undone, except ' +
          'for keys that this node knows to be deleted',
      )
      onSetBack(setBack)
    },
  })
}

const STANDINGS: Readonly<Record<Exclude<StoreStanding, 'ok'>, string>> = {
  other:
    'store: it is not the one that this node started with, so this node is not ready. Is it ' +
    "another installation's, or empty?",
  gone:
    'store: its file was removed or replaced, so this node is not ready. Put it ' +
    'back, or restart',
}

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
