/**
 * Gives the workers of this run their data folders, and adopts the journals that earlier runs left
 * in others. Only the process that holds the lock of the data folder around them may call this.
 * Knows no process.
 */
import { adoptSegments } from '../ledger/adopt-segments.ts'
import {
  DataFolderInUseError,
  type DataFolderLock,
  lockDataFolder,
} from '../store/installation/data-folder.ts'
import { listWorkerFolders, workerFolder } from '../store/installation/worker-folders.ts'
import type { Log } from '../telemetry/log.ts'

interface AdoptionReport {
  adopted(folder: string, segments: number): void
  /** Its segments stay where they are, and the next start tries again. */
  failed(folder: string, cause: unknown): void
}

/**
 * The lowest indexes whose folders are free: a worker whose supervisor was killed keeps its own
 * until it has ended. The first of them takes over what waits in all other journals, the data
 * folder's own too, and ships it.
 */
export function claimWorkerFolders(
  dataFolder: string,
  count: number,
  report: AdoptionReport,
): readonly number[] {
  const locks = new Map<number, DataFolderLock>()
  try {
    const claimed: number[] = []
    for (let index = 0; claimed.length < count; index++) {
      const lock = lockIfFree(workerFolder(dataFolder, index))
      if (lock === undefined) continue
      locks.set(index, lock)
      claimed.push(index)
    }
    const last = claimed.at(-1) ?? 0
    const left = listWorkerFolders(dataFolder).filter((index) => index > last)
    const heir = workerFolder(dataFolder, claimed[0] ?? 0)
    adopt(dataFolder, heir, report)
    for (const index of left) adoptIfFree(workerFolder(dataFolder, index), heir, report)
    return claimed
  } finally {
    for (const lock of locks.values()) lock.release()
  }
}

/** For one process without workers: what earlier runs' workers left becomes its own. */
export function adoptWorkerJournals(dataFolder: string, report: AdoptionReport): void {
  for (const index of listWorkerFolders(dataFolder))
    adoptIfFree(workerFolder(dataFolder, index), dataFolder, report)
}

function adoptIfFree(from: string, to: string, report: AdoptionReport): void {
  const lock = lockIfFree(from)
  if (lock === undefined) return
  try {
    adopt(from, to, report)
  } finally {
    lock.release()
  }
}

function adopt(from: string, to: string, report: AdoptionReport): void {
  try {
    const segments = adoptSegments(from, to)
    if (segments > 0) report.adopted(from, segments)
  } catch (cause) {
    report.failed(from, cause)
  }
}

function lockIfFree(folder: string): DataFolderLock | undefined {
  try {
    return lockDataFolder(folder)
  } catch (error) {
    if (error instanceof DataFolderInUseError) return undefined
    throw error
  }
}

/** Tells the log which journals were taken over. Knows no folder. */
export function adoptionReport(log: Log): AdoptionReport {
  return {
    adopted: (folder, segments) =>
      log.info({ folder, segments }, 'ledger: the journal of an earlier process is taken over'),
    failed: (folder, cause) =>
      log.error(
        { folder, err: cause },
        'ledger: the journal of an earlier process stays where it is',
      ),
  }
}

const FOLDER_PATIENCE_MS = 5_000
const FOLDER_POLL_MS = 50

/**
 * Waits for other commands, which have the folder for a moment; a server, which says its address,
 * is not waited for.
 */
export async function whenFolderIsFree<T>(open: () => T | Promise<T>): Promise<T> {
  const until = performance.now() + FOLDER_PATIENCE_MS
  for (;;) {
    try {
      return await open()
    } catch (error) {
      const isPassing = error instanceof DataFolderInUseError && error.holder === undefined
      if (!isPassing || performance.now() > until) throw error
      await Bun.sleep(FOLDER_POLL_MS)
    }
  }
}
