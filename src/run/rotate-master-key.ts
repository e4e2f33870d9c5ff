/**
 * `gatehouse master-key`: shows what is encrypted under which master key, and rotates the key.
 * Works beside a running server, which notices the changed file.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { MasterKeyRotation, MasterKeyStatus } from '../cli/context.ts'
import { findMasterKeys, masterKeyPath } from '../config/master-key.ts'
import {
  generateMasterKey,
  readMasterKeyFile,
  replaceMasterKeyFile,
} from '../config/master-key-file.ts'
import type { Environment } from '../config/setting-type.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import { createVault, masterKeyIdOf } from '../core/vault.ts'
import { recordLocalChange } from '../store/changes/record-local-change.ts'
import { lockFile } from '../store/database/file-lock.ts'
import { locateStore } from '../store/database/open-database.ts'
import { SealedRows, type SealedTally } from '../store/sealed-rows.ts'

export async function masterKeyStatus(environment: Environment): Promise<MasterKeyStatus> {
  const settings = readSettings(environment)
  return await withRows(settings, async (rows) => (await survey(settings, rows)).status)
}

/**
 * Writes the new key to disk before using it, and keeps the old key, so that a crash loses nothing:
 * running the command again completes the rotation.
 * @throws Error with the remedy when another rotation is in progress, a needed master key is
 * missing, or a later version has changed the database
 */
export async function rotateMasterKey(environment: Environment): Promise<MasterKeyRotation> {
  const settings = readSettings(environment)
  if (!existsSync(settings.dataFolder))
    throw new Error(`The data folder ${settings.dataFolder} does not exist.`)
  const lock = lockFile(join(settings.dataFolder, 'master-key.lock'))
  if (lock === undefined) throw new Error('Another rotation of the master key is in progress.')
  try {
    return await withRows(settings, (rows) => rotate(settings, rows))
  } finally {
    lock.release()
  }
}

async function rotate(
  settings: Settings,
  rows: SealedRows | undefined,
): Promise<MasterKeyRotation> {
  await assertNothingNewer(rows)
  const { status, tallies } = await survey(settings, rows)
  assertNoKeyIsMissing(status, tallies)
  const isUnfinished = status.tables.some((table) => table.previous > 0)
  const hasFile = settings.masterKeys.current === undefined
  if (!isUnfinished && (!hasFile || status.currentId === null)) {
    // Nodes may drop the older keys from now on.
    const isInUse = status.tables.some((table) => table.current > 0)
    if (status.currentId !== null && isInUse) await rows?.noteMasterKey(status.currentId)
    return { ...status, outcome: 'nothing', encryptedAnew: 0 }
  }
  if (!isUnfinished) addKey(settings, tallies)

  const keys = findMasterKeys(settings)
  if (keys === undefined) throw new Error('The master key is missing.')
  // Recorded before anything is encrypted, so that completing a killed rotation is recorded too.
  await recordRotation(settings, status, keys)
  const vault = createVault(keys)
  let encryptedAnew = 0
  let changed: number
  do {
    changed = (await rows?.reseal(vault)) ?? 0
    encryptedAnew += changed
    // A server may have written under the old key meanwhile.
  } while (changed > 0)
  const [current] = keys
  await rows?.noteMasterKey(masterKeyIdOf(current))
  const after = await survey(settings, rows)
  return { ...after.status, outcome: isUnfinished ? 'finished' : 'rotated', encryptedAnew }
}

/**
 * Records the rotation in the operator's account by key ids, which reveal nothing about the keys.
 */
async function recordRotation(
  settings: Settings,
  { currentId, previousIds }: MasterKeyStatus,
  keys: readonly Secret[],
): Promise<void> {
  const [newId = '', ...olderIds] = keys.map((key) => masterKeyIdOf(key))
  await recordLocalChange(locateStore(settings), {
    accountId: DEFAULT_ACCOUNT,
    action: 'master-key.rotate',
    resourceId: newId,
    before: { currentId, previousIds },
    after: { currentId: newId, previousIds: olderIds },
  })
}

/** The current key becomes a previous key; older keys without rows are dropped. */
function addKey({ dataFolder }: Settings, tallies: readonly SealedTally[]): void {
  const path = masterKeyPath(dataFolder)
  const file = readMasterKeyFile(path)
  if (file === undefined) throw new Error('The master key is missing.')
  const [current, ...previous] = file.keys
  const named = previous.filter((key) =>
    tallies.some(({ keyIds }) => keyIds.has(masterKeyIdOf(key))),
  )
  replaceMasterKeyFile(path, [generateMasterKey(), current, ...named])
}

async function assertNothingNewer(rows: SealedRows | undefined): Promise<void> {
  const newer = (await rows?.listNewerSteps()) ?? []
  if (newer.length === 0) return
  throw new Error(
    `A newer version of Gatehouse has changed the database (migration ${newer.join(', ')}). ` +
      'Rotate with that version. Nothing was changed.',
  )
}

function assertNoKeyIsMissing(status: MasterKeyStatus, tallies: readonly SealedTally[]): void {
  const here = new Set([status.currentId, ...status.previousIds])
  const missing = new Set(
    tallies.flatMap(({ keyIds }) => [...keyIds].filter((id) => !here.has(id))),
  )
  if (missing.size === 0) return
  throw new Error(
    'Credentials are encrypted under a missing master key ' +
      `(${[...missing].join(', ')}). Nothing was changed. ` +
      'Run this with the data folder and the GATEHOUSE_MASTER_KEY variables of the server, ' +
      'and set older keys in GATEHOUSE_MASTER_KEY_PREVIOUS.',
  )
}

async function survey(settings: Settings, rows: SealedRows | undefined) {
  const keys = findMasterKeys(settings)
  const tallies = (await rows?.tally(keys === undefined ? undefined : createVault(keys))) ?? []
  const [currentId = null, ...previousIds] = (keys ?? []).map((key) => masterKeyIdOf(key))
  const status: MasterKeyStatus = {
    source:
      settings.masterKeys.current === undefined
        ? masterKeyPath(settings.dataFolder)
        : 'GATEHOUSE_MASTER_KEY',
    currentId,
    previousIds,
    tables: tallies.map(({ table, current, previous, unopened }) => ({
      table,
      current,
      previous,
      unopened,
    })),
  }
  return { status, tallies }
}

async function withRows<Result>(
  settings: Settings,
  use: (rows: SealedRows | undefined) => Promise<Result>,
): Promise<Result> {
  const rows = await SealedRows.open(locateStore(settings))
  try {
    return await use(rows)
  } finally {
    await rows?.close()
  }
}
