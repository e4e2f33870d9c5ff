/**
 * Checks the data folder: whether the server can use it, who else can, and what is queued in it.
 * Changes nothing.
 */
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { SETTINGS, unknownVariables } from '../config/setting-table.ts'
import type { Environment } from '../config/setting-type.ts'
import type { Finding } from '../core/finding.ts'
import { nearestName } from '../core/nearest-name.ts'
import { codeOf, findingsOf } from './finding.ts'

const { fail, ok, warn } = findingsOf('data folder')
const ofDisk = findingsOf('disk')
const ofJournal = findingsOf('journal')
const MEBIBYTE = 1024 * 1024
const LITTLE_SPACE = 1024 * MEBIBYTE
const NO_SPACE = 100 * MEBIBYTE
const FEW_INODES = 1_000
const LARGE_JOURNAL = 64 * MEBIBYTE
const OLD_SEGMENT_MS = 120_000
const CURE_OTHER = 'Name another folder with GATEHOUSE_DATA_DIR, or make this folder usable'

export function checkDataFolder(folder: string): Finding[] {
  const status = statIfThere(folder)
  if (status === undefined) return checkMissing(folder)
  if (!status.isDirectory()) return [fail(`${folder} is not a folder`, CURE_OTHER)]
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return [fail(`${folder} cannot be written (${codeOf(error)})`, CURE_OTHER)]
  }
  const findings = [...checkAccess(folder, status), ...checkSpace(folder)]
  if (findings.every(({ level }) => level === 'ok')) findings.unshift(ok(`${folder} can be used`))
  return findings
}

function checkMissing(folder: string): Finding[] {
  let parent = dirname(folder)
  while (!existsSync(parent) && parent !== dirname(parent)) parent = dirname(parent)
  try {
    accessSync(parent, constants.W_OK | constants.X_OK)
    if (!statSync(parent).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' })
  } catch (error) {
    return [
      fail(
        `${folder} is not there and cannot be created in ${parent} (${codeOf(error)})`,
        CURE_OTHER,
      ),
    ]
  }
  return [ok(`${folder} is not there yet; serve makes it`)]
}

/** Files that belong to another user than the folder come from a command run as root. */
function checkAccess(folder: string, status: Stats): Finding[] {
  const findings: Finding[] = []
  if ((status.mode & 0o022) !== 0)
    findings.push(warn(`others than its owner may write in ${folder}`, `chmod 700 ${folder}`))
  const files = [
    'gatehouse.db',
    'gatehouse.db-wal',
    'gatehouse.db-shm',
    'gatehouse.lock',
    'master.key',
  ]
    .map((name) => join(folder, name))
    .flatMap((path) => {
      const file = statIfThere(path)
      return file === undefined ? [] : [{ path, file }]
    })
  for (const { path, file } of files) {
    if (!path.endsWith('master.key') && (file.mode & 0o077) !== 0)
      findings.push(warn(`others than its owner may read or write ${path}`, `chmod 600 ${path}`))
  }
  const strangers = files.filter(({ file }) => file.uid !== status.uid)
  if (strangers.length > 0)
    findings.push(
      warn(
        `of another user than the folder: ${strangers.map(({ path }) => path).join(', ')}`,
        `As root: chown -R --reference=${folder} ${folder}`,
      ),
    )
  const user = process.getuid?.()
  if (user !== undefined && user !== 0 && status.uid !== user)
    findings.push(
      warn(
        `${folder} belongs to another user (${status.uid}) than this one (${user})`,
        'Run this as the user that serves',
      ),
    )
  return findings
}

function checkSpace(folder: string): Finding[] {
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  const free = bavail * bsize
  const cure = 'Make room, or move the folder; a full disk makes the server refuse calls'
  const message = `${Math.floor(free / MEBIBYTE)} MiB are free on its disk`
  if (free < NO_SPACE) return [ofDisk.fail(message, cure)]
  if (free < LITTLE_SPACE) return [ofDisk.warn(message, cure)]
  // Some file systems count no inodes and report 0 of 0.
  if (files > 0 && ffree < FEW_INODES)
    return [ofDisk.warn(`only ${ffree} more files fit on its disk`, cure)]
  return [ofDisk.ok(message)]
}

export function checkJournal(
  folders: readonly string[],
  { isServing, nowMs }: { readonly isServing: boolean; readonly nowMs: number },
): Finding[] {
  const journals = folders.map((folder) => {
    const paths = (existsSync(folder) ? readdirSync(folder) : []).map((name) => join(folder, name))
    return {
      segments: paths
        .filter((path) => path.endsWith('.journal'))
        .flatMap((path) => statIfThere(path) ?? []),
      damaged: paths.filter((path) => path.endsWith('.damaged')),
    }
  })
  const segments = journals.flatMap((journal) => journal.segments)
  const bytes = segments.reduce((sum, { size }) => sum + size, 0)
  const damaged = journals.flatMap((journal) => journal.damaged)
  const findings: Finding[] = []
  if (damaged.length > 0)
    findings.push(
      ofJournal.warn(
        `${damaged.length} segments hold lines that could not be read, or have lost all of ` +
          'theirs; what could be read is in the database',
        `Find out why (the disk?), then delete ${damaged.join(', ')}`,
      ),
    )
  const size = `${(bytes / MEBIBYTE).toFixed(1)} MiB in ${segments.length} segments`
  // The newest segment is being written; an older segment should have been shipped within a second.
  const waiting = journals.flatMap((journal) =>
    journal.segments.toSorted((a, b) => b.mtimeMs - a.mtimeMs).slice(1),
  )
  const isStuck = isServing && waiting.some(({ mtimeMs }) => nowMs - mtimeMs > OLD_SEGMENT_MS)
  if (bytes > LARGE_JOURNAL || isStuck)
    findings.push(
      ofJournal.warn(
        `${size} wait to be moved into the database`,
        isServing
          ? "See the server's log for 'ship-failed': the database cannot be written"
          : 'Start the server: it moves them, and nothing is lost until then',
      ),
    )
  else findings.push(ofJournal.ok(`${size} wait to be moved into the database`))
  return findings
}

export function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined
    throw error
  }
}

const ofPort = findingsOf('port')

export async function checkPort({
  host,
  port,
}: {
  host: string
  port: number
}): Promise<Finding[]> {
  const code = await tryToListen(host, port)
  const where = `${host}:${port}`
  if (code === undefined)
    return [ofPort.ok(`${where} is free; no server uses this data folder now`)]
  const cure = CURES[code] ?? 'Give another with GATEHOUSE_HOST and GATEHOUSE_PORT'
  return [ofPort.fail(`a server could not listen on ${where} (${code})`, cure)]
}

const CURES: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another program has it: stop that, or give another with GATEHOUSE_PORT (0 takes any free one)',
  EACCES: 'Ports below 1024 are for root: give another with GATEHOUSE_PORT',
  EADDRNOTAVAIL:
    "The address is not this machine's: give another with GATEHOUSE_HOST (0.0.0.0 is all of them)",
  ENOTFOUND: 'The name leads nowhere: give an address with GATEHOUSE_HOST',
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error) => resolve(codeOf(error)))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}

const ofVariables = findingsOf('variables')
const ofRuntime = findingsOf('runtime')
const FEW_FILES = 4_096

export function checkVariables(environment: Environment): Finding[] {
  const findings = unknownVariables(environment).map((name): Finding => {
    const meant = nearestName(name, Object.keys(SETTINGS))
    return ofVariables.warn(
      `${name} is no setting, and nothing reads it`,
      meant === undefined
        ? 'Unset it; gatehouse serve --help lists them all'
        : `Did you mean ${meant}?`,
    )
  })
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    findings.push(
      ofVariables.warn(
        'NODE_TLS_REJECT_UNAUTHORIZED is 0: anybody on the way can pose as a ' +
          'provider and read its key',
        'Unset it; give a certificate of your own with NODE_EXTRA_CA_CERTS',
      ),
    )
  if (findings.length > 0) return findings
  return [ofVariables.ok('no GATEHOUSE_* variable is misspelt')]
}

export function checkRuntime(runtime: {
  readonly version: string
  readonly pinnedVersion: string
  readonly openFiles: number | undefined
}): Finding[] {
  const { version, pinnedVersion, openFiles } = runtime
  const findings: Finding[] = [
    version === pinnedVersion
      ? ofRuntime.ok(`Bun ${version}`)
      : ofRuntime.warn(
          `this is Bun ${version}; Gatehouse is tested with ${pinnedVersion}`,
          'Run it with node_modules/.bin/bun, which npm ci installs',
        ),
  ]
  if (openFiles !== undefined && openFiles < FEW_FILES)
    findings.push(
      ofRuntime.warn(
        `this process may have ${openFiles} files open, and a call needs two`,
        'Raise it: ulimit -n 65536, or LimitNOFILE=65536 in the systemd unit',
      ),
    )
  return findings
}
