/**
 * A lock between processes that the operating system releases when the holder ends, even by
 * SIGKILL.
 */
import { Database } from 'bun:sqlite'
import { createPrivateFile } from './sqlite-driver.ts'

export interface FileLock {
  release(): void
}

const held = new Set<Database>()

/**
 * Takes the lock through SQLite on a separate file.
 * @returns undefined when another process, or this process, holds the lock
 */
export function lockFile(path: string): FileLock | undefined {
  createPrivateFile(path)
  const database = new Database(path, { readwrite: true, create: true })
  try {
    database.run('PRAGMA busy_timeout = 0')
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
