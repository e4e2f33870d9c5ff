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
  failed(folder: string, cause: unknown): void
}

/**
 * Takes the lowest indexes with free folders: a worker whose supervisor was killed keeps its folder
 * until the worker ends. The first folder adopts and ships the segments of all other journals.
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

/** Adopts the journals of earlier runs' workers, for a process without workers. */
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

export function adoptionReport(log: Log): AdoptionReport {
  return {
    adopted: (folder, segments) =>
      log.info({ folder, segments }, 'ledger: the journal of an earlier process was adopted'),
    failed: (folder, cause) =>
      log.error(
        { folder, err: cause },
        'ledger: the journal of an earlier process could not be adopted and stays where it is',
      ),
  }
}

const FOLDER_PATIENCE_MS = 5_000
const FOLDER_POLL_MS = 50

/**
 * Waits for other commands, which hold the folder briefly, but not for a server, which reports its
 * address.
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
