/**
 * The file in the data folder that holds the master key: readable by its owner only, never
 * half-written.
 */
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Secret } from '../core/secret.ts'
import { MasterKeyError, toMasterKey } from './master-key-variables.ts'

/** It may be the right one, but others may read it. */
export class ExposedMasterKeyError extends MasterKeyError {}

export interface MasterKeyFile {
  /** The current one first. */
  readonly keys: readonly [Secret, ...Secret[]]
  /** Another one once the file is another. */
  readonly stamp: string
}

/**
 * @returns undefined when there is none
 * @throws MasterKeyError when others may read it, or it holds no key
 */
export function readMasterKeyFile(path: string): MasterKeyFile | undefined {
  const descriptor = openIfThere(path)
  if (descriptor === undefined) return undefined
  try {
    const status = fstatSync(descriptor)
    if ((status.mode & 0o077) !== 0) {
      throw new ExposedMasterKeyError(
        `Others than its owner may read the master key in ${path}. Make it ` +
          `private: chmod 600 ${path}`,
      )
    }
    const lines = readFileSync(descriptor, 'utf8').split('\n')
    const [current, ...previous] = lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => toMasterKey(line, path))
    if (current === undefined) throw new MasterKeyError(`There is no master key in ${path}.`)
    return { keys: [current, ...previous], stamp: toStamp(status) }
  } finally {
    closeSync(descriptor)
  }
}

/** @returns undefined when there is none */
export function masterKeyFileStamp(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status === undefined ? undefined : toStamp(status)
}

export function generateMasterKey(): Secret {
  return new Secret(randomBytes(32).toString('hex'))
}

/**
 * Makes the file unless it is there: of two processes that try, one makes it and both read the
 * same.
 */
export function createMasterKeyFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = writeDraft(path, [generateMasterKey()])
  try {
    // Unlike renaming, it refuses to replace what is there.
    linkSync(draft, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(path)
}

/** @param path of a file that is there @param keys the current one first */
export function replaceMasterKeyFile(path: string, keys: readonly [Secret, ...Secret[]]): void {
  const draft = writeDraft(path, keys)
  // A command that root ran must not take the file from the server's user.
  const { uid, gid } = statSync(path)
  if (uid !== process.getuid?.()) chownSync(draft, uid, gid)
  renameSync(draft, path)
  syncFolder(path)
}

const HEADING =
  '# Gatehouse master key: the first one is the current one, the others open what they ' +
  'closed. Keep a copy of this file,\n' +
  '# apart from those of the database: without it no provider key can be read again.\n'

/** On the disk before it gets its name: what is encrypted under a key must not outlive the key. */
function writeDraft(path: string, keys: readonly Secret[]): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.new`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, `${HEADING}${keys.map((key) => `${key.reveal()}\n`).join('')}`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  return draft
}

function syncFolder(path: string): void {
  const descriptor = openSync(dirname(path), 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function toStamp(status: {
  readonly ino: number
  readonly mtimeMs: number
  readonly size: number
}): string {
  return `${status.ino}:${status.mtimeMs}:${status.size}`
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
