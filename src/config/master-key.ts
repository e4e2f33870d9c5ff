import { join } from 'node:path'
import type { Secret } from '../core/secret.ts'
import { createVault, masterKeyIdOf, type Vault, VaultError } from '../core/vault.ts'
import {
  createMasterKeyFile,
  type MasterKeyExposure,
  masterKeyFileStamp,
  readMasterKeyFile,
} from './master-key-file.ts'
import type { MasterKeyVariables } from './master-key-variables.ts'

export interface MasterKeySource {
  readonly dataFolder: string
  readonly masterKeys: MasterKeyVariables
}

type MasterKeys = readonly [Secret, ...Secret[]]

export function masterKeyPath(dataFolder: string): string {
  return join(dataFolder, 'master.key')
}

/**
 * The current key first, then keys that only decrypt. Without `GATEHOUSE_MASTER_KEY` a missing file
 * is created in the data folder.
 * @throws MasterKeyError naming the variable or file, with the remedy; never the key
 */
export function loadMasterKeys(source: MasterKeySource): MasterKeys {
  return findMasterKeys(source) ?? makeMasterKeys(source)
}

export type ReportExposure = (exposure: MasterKeyExposure) => void

/**
 * Finds the keys without creating any.
 * @param onExposed called when others can read the file; undefined skips the check
 * @returns undefined without a master key
 * @throws MasterKeyError
 */
export function findMasterKeys(
  { dataFolder, masterKeys }: MasterKeySource,
  onExposed?: ReportExposure,
): MasterKeys | undefined {
  const { current, previous } = masterKeys
  if (current !== undefined) return [current, ...previous]
  const file = readMasterKeyFile(masterKeyPath(dataFolder), onExposed !== undefined)
  if (file?.exposure !== undefined) onExposed?.(file.exposure)
  return file === undefined ? undefined : [...file.keys, ...previous]
}

function makeMasterKeys(source: MasterKeySource): MasterKeys {
  const path = masterKeyPath(source.dataFolder)
  createMasterKeyFile(path)
  const keys = findMasterKeys(source)
  if (keys === undefined)
    throw new VaultError(`The master key in ${path} was removed while it was read.`)
  return keys
}

/**
 * Reads the file when first needed; the first encryption creates the file. A file that a rotation
 * changed is read before each encryption, and when a text needs an unknown key.
 * @param onCurrent called with the id of the key that encrypts from now on
 * @param onExposed as in `findMasterKeys`, at each read; an exposed file is still used, because
 * failing calls would not help
 */
export function openVault(
  source: MasterKeySource,
  onCurrent: (keyId: string) => void = () => {},
  onExposed?: ReportExposure,
): Vault {
  const path = masterKeyPath(source.dataFolder)
  const hasFile = source.masterKeys.current === undefined
  let vault: Vault | undefined
  let stamp: string | undefined
  let seen: readonly Secret[] = []

  function latest(mayCreate: boolean): Vault {
    const now = hasFile ? masterKeyFileStamp(path) : 'environment'
    if (vault !== undefined && now === stamp) return vault
    if (now === undefined && (!mayCreate || seen.length > 0)) {
      throw new VaultError(`The master key's file ${path} is missing. Restore it from its backup.`)
    }
    const keys = findMasterKeys(source, onExposed) ?? makeMasterKeys(source)
    const all: MasterKeys = [...keys, ...seen.filter((key) => !holds(keys, key))]
    vault = createVault(all)
    // Taken before the file is read, so that a file replaced meanwhile is read again next time.
    stamp = now ?? masterKeyFileStamp(path)
    seen = all
    onCurrent(masterKeyIdOf(all[0]))
    return vault
  }

  // After a second rotation the file no longer has the first key, so known keys stay in memory for
  // older texts.
  try {
    latest(false)
  } catch {
    // The part that needs the file reports that the file is missing or invalid.
  }

  return {
    encrypt: (secret, binding) => latest(true).encrypt(secret, binding),
    decrypt(sealed, binding) {
      const before = vault ?? latest(false)
      try {
        return before.decrypt(sealed, binding)
      } catch (error) {
        if (!(error instanceof VaultError)) throw error
        const after = latest(false)
        if (after === before) throw error
        return after.decrypt(sealed, binding)
      }
    },
    isCurrent: (sealed) => latest(false).isCurrent(sealed),
  }
}

function holds(keys: readonly Secret[], key: Secret): boolean {
  return keys.some((candidate) => candidate.reveal() === key.reveal())
}
