/**
 * Checks whether a data folder, a store and a master key belong together, before the gateway serves
 * from them or writes to them (docs/decisions/0030).
 */
import {
  createInstallationId,
  type Installation,
  type InstallationTableStore,
} from './installation.ts'
import {
  InstallationFileError,
  type RememberedInstallation,
  readInstallationFile,
  writeInstallationFile,
} from './installation-file.ts'

/**
 * Folder, store or master key do not belong together, so the caller must not serve. The message
 * says what was found, what was expected, and how to accept the current state.
 */
export class InstallationMismatchError extends Error {
  override readonly name = 'InstallationMismatchError'
}

export const ACCEPT_COMMAND = 'gatehouse store accept'

export function mismatch(sentences: readonly string[]): InstallationMismatchError {
  return new InstallationMismatchError(
    `${sentences.join(' ')} Nothing was changed. Should this be meant, say so with the same ` +
      `variables: ${ACCEPT_COMMAND}`,
  )
}

export interface InstallationParts {
  readonly folder: string
  /** A description for messages, without a password. */
  readonly where: string
  readonly installation: InstallationTableStore
  readonly masterKeyIds: readonly string[]
  /** Tries to decrypt an encrypted text of each kind, and returns the ids of their master keys. */
  readonly tried: () => Promise<readonly TriedRow[]>
  readonly sync: () => Promise<void>
}

export interface TriedRow {
  readonly keyId: string | undefined
  readonly isOpened: boolean
}

/**
 * Finds mismatches, and writes nothing.
 * @returns a sentence per mismatch; empty when everything belongs together
 */
export async function findMismatches(parts: InstallationParts): Promise<readonly string[]> {
  const remembered = recall(parts.folder)
  if (remembered instanceof InstallationFileError) return [remembered.message]
  const found = await parts.installation.read()
  return [
    ...compareStores(parts, remembered, found),
    ...(await compareKeys(parts, remembered, found)),
  ]
}

function recall(folder: string): RememberedInstallation | undefined | InstallationFileError {
  try {
    return readInstallationFile(folder)
  } catch (error) {
    if (error instanceof InstallationFileError) return error
    throw error
  }
}

function compareStores(
  { folder, where }: InstallationParts,
  remembered: RememberedInstallation | undefined,
  found: Installation | undefined,
): string[] {
  if (found !== undefined && found.movedTo !== null)
    return [
      `Everything in the store (${where}) was copied to ${found.movedTo}: found an old copy, ` +
        'expected that one. Set DATABASE_URL to it.',
    ]
  if (remembered === undefined) return []
  const expected = `the data folder ${folder} belongs to installation ${remembered.id}`
  if (found === undefined)
    return [
      `The store (${where}) is of no installation: found a new or replaced ` +
        `database, but ${expected}.`,
    ]
  if (found.id !== remembered.id)
    return [`The store (${where}) is another installation's: found ${found.id}, but ${expected}.`]
  if (found.change < remembered.change)
    return [
      `The store (${where}) was set back in time: found it at change ${found.change}, but ` +
        `this data folder has seen change ${remembered.change}. What was revoked in between is ` +
        'in force again.',
    ]
  return []
}

async function compareKeys(
  { masterKeyIds, tried }: InstallationParts,
  remembered: RememberedInstallation | undefined,
  found: Installation | undefined,
): Promise<string[]> {
  const here = masterKeyIds.length === 0 ? 'none' : masterKeyIds.join(', ')
  // A store without a recorded key has encrypted nothing since recording began.
  const expected = found?.masterKeyId ?? remembered?.masterKeyId ?? null
  if (expected !== null)
    return masterKeyIds.includes(expected) ? [] : [describeKeys(here, expected, 'is recorded')]
  const rows = await tried()
  if (rows.length === 0 || rows.some(({ isOpened }) => isOpened)) return []
  const named = [...new Set(rows.map(({ keyId }) => keyId ?? 'a damaged one'))].join(', ')
  return [describeKeys(here, named, 'the stored credentials name')]
}

function describeKeys(here: string, expected: string, how: string): string {
  return (
    'The master key is not the one that the stored credentials are encrypted under: found ' +
    `${here}, expected ${expected} (${how}). Restore the key (GATEHOUSE_MASTER_KEY, ` +
    'GATEHOUSE_MASTER_KEY_PREVIOUS, or master.key in the data folder).'
  )
}

/**
 * Records the store in the folder and the folder's state in the store.
 * @throws InstallationMismatchError before any change
 */
export async function joinInstallation(parts: InstallationParts): Promise<Installation> {
  const mismatches = await findMismatches(parts)
  if (mismatches.length > 0) throw mismatch(mismatches)
  return await settle(parts, readInstallationFile(parts.folder)?.id)
}

export async function acceptInstallation(parts: InstallationParts): Promise<readonly string[]> {
  const mismatches = await findMismatches(parts)
  if (mismatches.length === 0) return mismatches
  const { installation, masterKeyIds, folder } = parts
  const remembered = recall(folder)
  const known = remembered instanceof InstallationFileError ? undefined : remembered
  if ((await installation.read()) === undefined)
    await installation.create(known?.id ?? createInstallationId())
  const found = await installation.read()
  await installation.noteMove(null)
  await installation.noteMasterKey(masterKeyIds[0] ?? null)
  // Raised above the number that any node of the same history has seen, so that accepting on one
  // node is enough for all nodes.
  if (known !== undefined && found?.id === known.id && found.change <= known.change)
    await installation.raiseChange(known.change + 1)
  const accepted = await installation.read()
  if (accepted === undefined) throw new Error('the row of the installation is gone')
  await parts.sync()
  writeInstallationFile(folder, accepted)
  return mismatches
}

async function settle(
  parts: InstallationParts,
  knownId: string | undefined,
): Promise<Installation> {
  const { installation, masterKeyIds, folder, sync } = parts
  if ((await installation.read()) === undefined)
    await installation.create(knownId ?? createInstallationId())
  const [current] = masterKeyIds
  if (current !== undefined && (await installation.read())?.masterKeyId !== current)
    await installation.noteMasterKey(current)
  const joined = await installation.read()
  if (joined === undefined) throw new Error('the row of the installation is gone')
  await sync()
  writeInstallationFile(folder, joined)
  return joined
}
