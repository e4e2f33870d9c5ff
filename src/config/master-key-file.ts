/** The master key's file in the data folder: readable by its owner only, and never half-written. */
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Secret } from '../core/secret.ts'
import { MasterKeyError, toMasterKey } from './master-key-variables.ts'

/**
 * Who else can read the file. `ours`: others can read the server's own file, which `mayNarrow`
 * makes private and then reports as `narrowed`. `modeless`: the file system ignores modes, such as
 * another system's shared folder.
 */
export interface MasterKeyExposure {
  readonly type: 'ours' | 'narrowed' | 'modeless' | 'group' | 'everybody'
  readonly path: string
  readonly mode: string
  readonly ownedBy: number | undefined
}

export interface MasterKeyFile {
  readonly keys: readonly [Secret, ...Secret[]]
  readonly stamp: string
  readonly exposure: MasterKeyExposure | undefined
}

/**
 * @param mayNarrow whether to make the server's own file private if others can read the file
 * @returns undefined when the file does not exist
 * @throws MasterKeyError when the file contains no key, or is a broken link
 */
export function readMasterKeyFile(path: string, mayNarrow = false): MasterKeyFile | undefined {
  const descriptor = openIfThere(path)
  if (descriptor === undefined) return undefined
  try {
    const status = fstatSync(descriptor)
    const exposure = findExposure(path, status)
    const judged = exposure?.type === 'ours' && mayNarrow ? narrow(descriptor, exposure) : exposure
    const lines = readFileSync(descriptor, 'utf8').split('\n')
    const [current, ...previous] = lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => toMasterKey(line, path))
    if (current === undefined) throw new MasterKeyError(`There is no master key in ${path}.`)
    return {
      keys: [current, ...previous],
      stamp: toStamp(status),
      exposure: judged,
    }
  } finally {
    closeSync(descriptor)
  }
}

export function findMasterKeyExposure(path: string): MasterKeyExposure | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status === undefined ? undefined : findExposure(path, status)
}

function findExposure(path: string, status: Stats): MasterKeyExposure | undefined {
  const mode = status.mode & 0o777
  if ((mode & 0o077) === 0) return undefined
  const user = process.getuid?.()
  return {
    type: isOurs(path, status) ? 'ours' : othersMayRead(status) ? 'everybody' : 'group',
    path: realpathSync(path),
    mode: mode.toString(8).padStart(4, '0'),
    ownedBy: status.uid === user ? undefined : status.uid,
  }
}

/**
 * Whether the server created the file, or would create a file at this path. People who set up links
 * and mounted secrets must correct such files themselves.
 */
function isOurs(path: string, status: Stats): boolean {
  const folder = statSync(dirname(path))
  const user = process.getuid?.()
  const mayChange = status.uid === user || (user === 0 && status.uid === folder.uid)
  return mayChange && folder.dev === status.dev && !lstatSync(path).isSymbolicLink()
}

function narrow(descriptor: number, exposure: MasterKeyExposure): MasterKeyExposure {
  try {
    fchmodSync(descriptor, 0o600)
  } catch {
    return { ...exposure, type: othersMayRead(fstatSync(descriptor)) ? 'everybody' : 'group' }
  }
  const isPrivate = (fstatSync(descriptor).mode & 0o077) === 0
  return { ...exposure, type: isPrivate ? 'narrowed' : 'modeless' }
}

function othersMayRead({ mode }: Stats): boolean {
  return (mode & 0o007) !== 0
}

export function describeExposure(exposure: MasterKeyExposure): string {
  const { type, path, mode } = exposure
  const cure = describeCure(exposure)
  if (type === 'narrowed')
    return `Others than its owner could read the master key in ${path} (mode ${mode}); its mode is now 0600. ${cure}`
  const who = type === 'group' ? 'The group of its file' : 'Every user of this machine'
  return `${who} may read the master key in ${path} (mode ${mode}). ${cure}`
}

export function describeCure({ type, path, ownedBy }: MasterKeyExposure): string {
  const privately =
    ownedBy === undefined
      ? `chmod 600 ${path}`
      : `as root, chown ${process.getuid?.()} ${path} && chmod 600 ${path}`
  switch (type) {
    case 'narrowed':
      return 'If someone may have read the key, rotate it: gatehouse master-key rotate'
    case 'modeless':
      return (
        'Its file system ignores file modes. Move the data folder to another one, or set the key ' +
        'in GATEHOUSE_MASTER_KEY.'
      )
    case 'group':
      return (
        'That is right for a Secret of Kubernetes under an fsGroup and for a credential of ' +
        `systemd. Otherwise make it private: ${privately}`
      )
    case 'ours':
      return `Make it private: ${privately}`
    case 'everybody':
      return (
        `Make it private: ${privately}. For a Secret of Kubernetes, set defaultMode: 0400 on its ` +
        'volume (0440 under an fsGroup). For systemd, use LoadCredential= with a file of mode ' +
        '0600. For Docker, set mode: 0400 on the secret.'
      )
  }
}

export function masterKeyFileStamp(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status === undefined ? undefined : toStamp(status)
}

export function generateMasterKey(): Secret {
  return new Secret(randomBytes(32).toString('hex'))
}

/**
 * Creates the file unless it exists. Of two processes that try, one succeeds and both read the same
 * file.
 */
export function createMasterKeyFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = writeDraft(path, [generateMasterKey()])
  try {
    // Unlike renaming, linking never replaces an existing file.
    linkSync(draft, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(path)
}

/**
 * @param path an existing file
 * @param keys the current key first
 * @throws MasterKeyError when the path is a link: renaming would replace the link and not its
 * target
 */
export function replaceMasterKeyFile(path: string, keys: readonly [Secret, ...Secret[]]): void {
  if (lstatSync(path).isSymbolicLink())
    throw new MasterKeyError(
      `${path} is a link to ${readlinkSync(path)}, which another program manages. Put a new key ` +
        '(openssl rand -hex 32) in front of the one in that file, on a line of its own, and run ' +
        'this again.',
    )
  const draft = writeDraft(path, keys)
  // A command run by root must leave the file readable for the server's user.
  const { uid, gid } = statSync(path)
  if (uid !== process.getuid?.()) chownSync(draft, uid, gid)
  renameSync(draft, path)
  syncFolder(path)
}

const HEADING =
  '# Gatehouse master keys: the first one is the current one, the others only decrypt ' +
  'older data. Keep a copy of this file,\n' +
  '# apart from the database backups: without it no provider key can be decrypted.\n'

/**
 * Writes the draft to disk before the draft gets its name, because data encrypted with a key must
 * never outlive the key.
 */
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
    if (!hasCode(error, 'ENOENT')) throw error
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new MasterKeyError(
        `${path} is a link to ${readlinkSync(path)}, which does not exist. Restore the file, or ` +
          'correct the link.',
      )
    return undefined
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
