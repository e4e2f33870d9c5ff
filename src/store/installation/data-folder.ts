import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../database/file-lock.ts'

const LOCK_FILE = 'gatehouse.lock'
const SERVER_FILE = 'server.json'
const NODE_FILE = 'node-id'

export interface ServerInfo {
  readonly pid: number
  readonly url: string
}

export interface DataFolderLock {
  release(): void
}

export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError'
  readonly folder: string
  readonly holder: ServerInfo | undefined

  constructor(folder: string, holder: ServerInfo | undefined) {
    const who =
      holder === undefined
        ? 'another Gatehouse process'
        : `the server at ${holder.url} (process ${holder.pid})`
    super(
      `The data folder ${folder} is in use by ${who}. Stop it, or give this one another folder.`,
    )
    this.folder = folder
    this.holder = holder
  }
}

export class DataFolderAccessError extends Error {
  override readonly name = 'DataFolderAccessError'
}

const WRITTEN = [
  ...['', LOCK_FILE, 'gatehouse.db', 'gatehouse.db-wal', 'gatehouse.db-shm'],
  ...['journal', 'workers'],
]
/**
 * Files that are replaced as a whole, or provided by the operator and possibly mounted read-only.
 */
const READ = [
  ...[SERVER_FILE, NODE_FILE, 'installation.json', 'configuration.json'],
  ...['master.key', 'gatehouse.yaml'],
]

/**
 * Called before any file is opened, because SQLite's own errors give no reason.
 * @throws DataFolderAccessError naming the first unusable file and its owner
 */
export function assertUsable(folder: string): void {
  const segments = namesIn(join(folder, 'journal')).map((name) => join('journal', name))
  const { R_OK, W_OK } = constants
  const needs = [
    ...WRITTEN.map((name) => [name, R_OK | W_OK] as const),
    ...[...READ, ...segments].map((name) => [name, R_OK] as const),
  ]
  for (const [name, mode] of needs) {
    const path = join(folder, name)
    try {
      accessSync(path, mode)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EACCES')
        throw new DataFolderAccessError(describeAccess(folder, path))
    }
  }
}

function describeAccess(folder: string, path: string): string {
  const user = process.getuid?.()
  const owner = statSync(path, { throwIfNoEntry: false })?.uid
  const whose = owner === undefined ? 'is not accessible' : `belongs to user ${owner}`
  return (
    `The data folder ${folder} cannot be used (EACCES): ${path} ${whose}, and this process runs as ` +
    `user ${user}. Give the folder to that user, as root: chown -R ${user} ${folder}. In ` +
    'Kubernetes, securityContext.fsGroup does it.'
  )
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * Locks the folder (created with mode 0700 if missing) for this process until `release` or the
 * process's end.
 * @throws DataFolderInUseError when another process, or this process, holds the lock;
 * DataFolderAccessError
 */
export function lockDataFolder(folder: string): DataFolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  assertUsable(folder)
  const lock = lockFile(join(folder, LOCK_FILE))
  if (lock === undefined) throw new DataFolderInUseError(folder, readServerInfo(folder))
  // A killed process leaves this file behind; the lock proves that no server runs here now.
  removeServerInfo(folder)
  let isHeld = true
  return {
    release() {
      if (!isHeld) return
      isHeld = false
      removeServerInfo(folder)
      lock.release()
    },
  }
}

/** Publishes which server uses this folder; only the lock's holder may call this. */
export function writeServerInfo(folder: string, info: ServerInfo): void {
  const path = join(folder, SERVER_FILE)
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify({ pid: info.pid, url: info.url })}\n`, { mode: 0o600 })
  // Renamed, so that readers never see a partial file.
  renameSync(draft, path)
}

export function readServerInfo(folder: string): ServerInfo | undefined {
  try {
    const info: unknown = JSON.parse(readFileSync(join(folder, SERVER_FILE), 'utf8'))
    if (typeof info !== 'object' || info === null || !('pid' in info) || !('url' in info))
      return undefined
    const { pid, url } = info
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url } : undefined
  } catch {
    return undefined
  }
}

export function readNodeId(folder: string): string {
  const path = join(folder, NODE_FILE)
  try {
    const id = readFileSync(path, 'utf8').trim()
    if (/^node_[0-9a-f]{24}$/.test(id)) return id
  } catch {
    // No id was written yet.
  }
  const id = `node_${randomBytes(12).toString('hex')}`
  writeFileSync(path, `${id}\n`, { mode: 0o600 })
  return id
}

function removeServerInfo(folder: string): void {
  rmSync(join(folder, SERVER_FILE), { force: true })
}
