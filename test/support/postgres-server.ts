/**
 * A real Postgres server on a free port, with a temporary data folder, which ends with the process
 * that started it.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findFreePort } from './free-port.ts'
import { isRunning } from './is-running.ts'
import type { TestCertificate } from './tls-certificates.ts'

const USER = 'gatehouse'
/** Contains characters that need percent-encoding, and is searched for in printed output. */
export const POSTGRES_PASSWORD = 'test/Passw@rd%1'
const START_TIMEOUT_MS = 20_000
const STEM = 'gatehouse-postgres-'
/** The other test processes wait while one creates what all copy. */
const LOCK_TIMEOUT_MS = 60_000
const LOCK_LOOK_EVERY_MS = 50

export interface PostgresServer {
  readonly port: number
  readonly folder: string
  urlOf(database: string): string
  run<Row extends object>(sql: string, database?: string): Promise<Row[]>
  /** Runs SQL and keeps the session with its locks until released. */
  hold(
    sql: string,
    database: string,
    released: Promise<void>,
  ): { held: Promise<void>; ended: Promise<void> }
  /** To every process of it: SIGSTOP makes it silent, as a network does that loses everything. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  remove(): Promise<void>
}

export interface PostgresOptions {
  readonly isDurable?: boolean
  readonly certificate?: TestCertificate
  readonly content?: PreparedContent
}

/** Created once per test run, and copied. */
export interface PreparedContent {
  readonly name: string
  prepare(server: PostgresServer): Promise<void>
}

/**
 * Whether Postgres is disabled on purpose. The caller must give this as the reason for skipped
 * tests.
 */
export function isPostgresLeftOut(): boolean {
  return process.env.GATEHOUSE_TEST_POSTGRES === 'none'
}

/**
 * The server's programs: a folder that GATEHOUSE_TEST_POSTGRES names, the `PATH`, or Debian's
 * package.
 * @throws with `CI` set, when the programs are missing
 */
export function findPostgres(): string | undefined {
  if (isPostgresLeftOut()) return undefined
  const named = process.env.GATEHOUSE_TEST_POSTGRES
  const inPath = Bun.which('initdb')
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((left, right) => Number(right) - Number(left))
    : []
  const folders = [
    ...(named === undefined ? [] : [named]),
    ...(inPath === null ? [] : [join(inPath, '..')]),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')))
  if (found === undefined && process.env.CI)
    throw new Error(
      "Postgres is not here: install Debian's package postgresql, or name its bin folder in GATEHOUSE_TEST_POSTGRES.",
    )
  return found
}

/** A server for all tests of this process, started by the first caller. */
export async function sharedPostgres(): Promise<PostgresServer> {
  const folder = join(tmpdir(), `${STEM}${process.pid}`)
  // A test file may have its own modules, so the server is found through the disk.
  const port = existsSync(join(folder, 'ready'))
    ? Number(readFileSync(join(folder, 'ready'), 'utf8'))
    : undefined
  if (port !== undefined) return describe(folder, port)
  removeLeftovers()
  const server = await createIn(folder)
  writeFileSync(join(folder, 'ready'), String(server.port))
  return server
}

let ownServers = 0

/** One of the test's own, to be stopped and started. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  ownServers += 1
  return await createIn(
    join(tmpdir(), `${STEM}${process.pid}-${ownServers}-${Date.now()}`),
    options,
  )
}

async function createIn(folder: string, options: PostgresOptions = {}): Promise<PostgresServer> {
  const { certificate, content, isDurable = false } = options
  mkdirSync(folder, { mode: 0o755 })
  watch(folder)
  const identity = identityOfPostgres()
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid)
  const server = describe(folder, await findFreePort(), isDurable)
  await makeData(server, { content, isDurable })
  if (certificate !== undefined) {
    const data = join(folder, 'data')
    for (const [name, text] of [
      ['server.crt', certificate.cert],
      ['server.key', certificate.key],
    ] as const) {
      writeFileSync(join(data, name), text, { mode: 0o600 })
      if (identity !== undefined) chownSync(join(data, name), identity.uid, identity.gid)
    }
    appendFileSync(join(data, 'postgresql.conf'), 'ssl = on\n')
  }
  await server.start()
  return server
}

interface DataOptions {
  readonly content: PreparedContent | undefined
  readonly isDurable: boolean
}

/** Made once in a run of the tests, which names a folder for it, and copied. */
async function makeData(
  server: PostgresServer,
  { content, isDurable }: DataOptions,
): Promise<void> {
  const run = process.env.GATEHOUSE_TEST_RUN_FOLDER
  const data = join(server.folder, 'data')
  const makeEmpty = async () => initialise(server.folder, { isDurable })
  const makeFilled = async () => {
    await makeOrCopy(data, run && join(run, 'postgres-data'), makeEmpty)
    await server.start()
    await content?.prepare(server)
    await server.stop('fast')
  }
  if (content === undefined) await makeOrCopy(data, run && join(run, 'postgres-data'), makeEmpty)
  else await makeOrCopy(data, run && join(run, `postgres-data-${content.name}`), makeFilled)
}

function initialise(folder: string, { isDurable }: Pick<DataOptions, 'isDurable'>): void {
  writeFileSync(join(folder, 'password'), POSTGRES_PASSWORD)
  const made = asPostgres('initdb', [
    ...['-D', join(folder, 'data'), '-U', USER, '--pwfile', join(folder, 'password')],
    ...['-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    // The first log file would have 16 MB otherwise, nearly half of what is copied for each server.
    ...(isDurable ? [] : ['--wal-segsize=1']),
  ])
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
}

/** @param prepared where the first of all test processes leaves what it has made, for the others */
async function makeOrCopy(
  data: string,
  prepared: string | undefined,
  make: () => Promise<void>,
): Promise<void> {
  if (prepared === undefined) return await make()
  const lock = `${prepared}.lock`
  const deadlineMs = Date.now() + LOCK_TIMEOUT_MS
  while (!existsSync(prepared)) {
    if (!takeLock(lock)) {
      if (Date.now() > deadlineMs) throw new Error(`Another test process has not made ${prepared}.`)
      await Bun.sleep(LOCK_LOOK_EVERY_MS)
      continue
    }
    try {
      if (existsSync(prepared)) break
      await make()
      // Renamed as a whole, because another process may look for the folder.
      copy(data, `${prepared}.copy`)
      renameSync(`${prepared}.copy`, prepared)
      return
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  copy(prepared, data)
}

function takeLock(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

/** With its owner, who is not whoever runs the tests. */
function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`The data could not be copied: ${String(stderr)}`)
}

function describe(folder: string, port: number, isDurable = false): PostgresServer {
  const data = join(folder, 'data')
  const urlOf = (database: string) =>
    `postgres://${USER}:${encodeURIComponent(POSTGRES_PASSWORD)}@127.0.0.1:${port}/${database}`
  const run = async <Row extends object>(sql: string, database = 'postgres'): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: urlOf(database) })
    await client.connect()
    try {
      const { rows } = await client.query<Row>(sql)
      return rows
    } finally {
      await client.end()
    }
  }
  const hold = (sql: string, database: string, released: Promise<void>) => {
    const client = new pg.Client({ connectionString: urlOf(database) })
    const held = client.connect().then(async () => void (await client.query(sql)))
    return { held, ended: held.then(() => released).finally(() => client.end()) }
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    const [leader = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    const others = String(spawnSync('ps', ['-o', 'pid=', '--ppid', leader]).stdout)
      .trim()
      .split(/\s+/)
    for (const pid of [leader, ...others])
      if (isRunning(Number(pid))) process.kill(Number(pid), name)
  }
  const stop = async (mode: 'fast' | 'immediate') => {
    asPostgres('pg_ctl', ['-D', data, '-m', mode, '-w', 'stop'])
  }
  return {
    port,
    folder,
    urlOf,
    run,
    hold,
    signal,
    stop,
    start: async () => {
      const settings = [
        ...['-p', String(port), '-h', '127.0.0.1', '-k', folder],
        ...[
          '-c',
          'shared_buffers=32MB',
          '-c',
          'dynamic_shared_memory_type=mmap',
          '-c',
          'max_connections=100',
        ],
        // Tests of logic do not need to survive a loss of power.
        ...(isDurable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off']),
      ]
      const log = join(folder, 'log')
      const started = asPostgres('pg_ctl', [
        ...['-D', data, '-l', log, '-w', '-t', String(START_TIMEOUT_MS / 1000)],
        ...['-o', settings.join(' '), 'start'],
      ])
      if (started.status === 0) return
      const told = existsSync(log) ? readFileSync(log, 'utf8') : ''
      throw new Error(`Postgres did not start: ${started.stderr}\n${told}`)
    },
    remove: async () => {
      await stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Postgres refuses to run as root, which CI may be. */
function asPostgres(program: string, parameters: readonly string[]) {
  const bin = findPostgres()
  if (bin === undefined) throw new Error('Postgres is not here.')
  const command = [join(bin, program), ...parameters]
  const [name = '', ...rest] =
    process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command
  // The server must not hold a pipe of the test process.
  const result = spawnSync(name, rest, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
  return { status: result.status, stderr: String(result.stderr ?? result.error) }
}

function identityOfPostgres(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (option: string) =>
    Number(String(spawnSync('id', [option, 'postgres']).stdout).trim())
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A separate process, because a signal may end the test process without notice. */
function watch(folder: string): void {
  // What a killed test process was at, making or starting the server, may go on for a moment after
  // it.
  const script = `
    while kill -0 ${process.pid} 2> /dev/null && [ -e '${folder}' ]; do sleep 1; done
    while [ -e '${folder}' ]; do
      ${killScript(folder)}
      sleep 1
      rm -rf '${folder}'
    done`
  // Behind a shell that ends at once: what a test file starts itself is ended with that file.
  spawnSync('sh', ['-c', 'setsid sh -c "$0" < /dev/null > /dev/null 2>&1 &', script], {
    cwd: '/',
    stdio: 'ignore',
  })
}

/** Ends the server of that folder, and never a process that got its number later. */
function killScript(folder: string): string {
  return `pid=$(head -n 1 '${folder}/data/postmaster.pid' 2> /dev/null) &&
    ps -o args= -p "$pid" | grep -qF '${folder}' && kill -QUIT "$pid"`
}

/** Removes the folders of test processes that were killed together with their watch. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^gatehouse-postgres-(\d+)/.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    const folder = join(tmpdir(), name)
    spawnSync('sh', ['-c', killScript(folder)], { stdio: 'ignore' })
    rmSync(folder, { recursive: true, force: true })
  }
}
