/**
 * Finds the master keys, and makes a vault that opens when it is first needed and notices a
 * rotation. Knows nothing of what is encrypted.
 */
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

/** `Settings` is one. */
export interface MasterKeySource {
  readonly dataFolder: string
  readonly masterKeys: MasterKeyVariables
}

type MasterKeys = readonly [Secret, ...Secret[]]

export function masterKeyPath(dataFolder: string): string {
  return join(dataFolder, 'master.key')
}

/**
 * The current key first, then those that only still open. Without `GATEHOUSE_MASTER_KEY` it creates
 * the data folder's file when it is missing.
 * @throws MasterKeyError naming the variable or the file, with the cure; never the key
 */
export function loadMasterKeys(source: MasterKeySource): MasterKeys {
  return findMasterKeys(source) ?? makeMasterKeys(source)
}

export type ReportExposure = (exposure: MasterKeyExposure) => void

/**
 * Makes nothing.
 * @param onExposed gets who else may read the file; a file of ours is made private first. Without
 * it nothing is looked at
 * @returns undefined when there is no master key yet
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
    throw new VaultError(`The master key in ${path} has gone while it was read.`)
  return keys
}

/**
 * Reads the file where there is one; the first encryption creates it. A file that a rotation has
 * changed is read before each encryption, and when a text is under a key that is not known; keys
 * seen once go on opening what they closed.
 * @param onCurrent gets the id of the key that encrypts from now on
 * @param onExposed as of `findMasterKeys`, each time that the file is read; a file that others may
 * read is used all the same, because a call cannot mend it
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

  /** @throws MasterKeyError or VaultError when there is no usable key */
  function latest(mayCreate: boolean): Vault {
    const now = hasFile ? masterKeyFileStamp(path) : 'environment'
    if (vault !== undefined && now === stamp) return vault
    if (now === undefined && (!mayCreate || seen.length > 0)) {
      throw new VaultError(`The master key's file ${path} is not there: restore it from its copy.`)
    }
    const keys = findMasterKeys(source, onExposed) ?? makeMasterKeys(source)
    const all: MasterKeys = [...keys, ...seen.filter((key) => !holds(keys, key))]
    vault = createVault(all)
    // Taken before the file was read: one that is replaced meanwhile is read again next time.
    stamp = now ?? masterKeyFileStamp(path)
    seen = all
    onCurrent(masterKeyIdOf(all[0]))
    return vault
  }

  // A sealed text in memory may be opened after the second rotation, when the key that closed it
  // has left the file.
  try {
    latest(false)
  } catch {
    // There is no file yet, or a bad one: the part that needs it reports that.
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
