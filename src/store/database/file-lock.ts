/**
 * A lock between processes that ends with its holder, however that ends. Knows nothing of what it
 * guards.
 */
import { Database } from 'bun:sqlite'
import { createPrivateFile } from './sqlite-driver.ts'

export interface FileLock {
  /** Idempotent. */
  release(): void
}

/** Strong references: a handle closed by the garbage collector would release its lock. */
const held = new Set<Database>()

/**
 * An operating system lock, taken by SQLite on a separate file, so nothing needs cleaning up after
 * SIGKILL.
 * @returns undefined when another process, or this one, holds it
 */
export function lockFile(path: string): FileLock | undefined {
  createPrivateFile(path)
  const database = new Database(path, { readwrite: true, create: true })
  try {
    database.run('PRAGMA busy_timeout = 0')
    // Nothing is ever written, so no rollback journal file is needed.
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
