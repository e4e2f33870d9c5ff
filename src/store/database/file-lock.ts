/**
 * A lock between processes that ends with the one that has it, however that ends. Knows nothing of
 * what it guards.
 */
import { Database } from 'bun:sqlite'
import { createPrivateFile } from './sqlite-driver.ts'

export interface FileLock {
  /** More than once does nothing. */
  release(): void
}

/** A handle that the garbage collector closed would let the lock go. */
const held = new Set<Database>()

/**
 * The lock is the operating system's own, taken by SQLite on a file of its own: nothing is left to
 * clean up after SIGKILL.
 * @returns undefined when another process, or this one, has it
 */
export function lockFile(path: string): FileLock | undefined {
  createPrivateFile(path)
  const database = new Database(path, { readwrite: true, create: true })
  try {
    database.run('PRAGMA busy_timeout = 0')
    // Nothing is ever written, so there is nothing to roll back: spares a side file.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  held.add(database)
  return {
    release() {
      if (held.delete(database)) database.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
