/** A real PgBouncer in front of a test's Postgres, with default settings except the pool mode. */
import { existsSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { boundToTest } from './bound-to-test.ts'
import { findFreePort } from './free-port.ts'
import { pollUntil } from './poll-until.ts'
import { POSTGRES_PASSWORD, type PostgresServer } from './postgres-server.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

export interface PgBouncer {
  urlOf(database: string): string
  log(): string
  remove(): Promise<void>
}

/**
 * GATEHOUSE_TEST_PGBOUNCER names the program; default: `pgbouncer` of the `PATH` or of Debian's
 * package.
 * @throws with `CI` set, when the program is missing
 */
export function findPgBouncer(): string | undefined {
  const debian = '/usr/sbin/pgbouncer'
  const found =
    process.env.GATEHOUSE_TEST_PGBOUNCER ??
    Bun.which('pgbouncer') ??
    (existsSync(debian) ? debian : undefined)
  if (found === undefined && process.env.CI)
    throw new Error(
      "PgBouncer is not here: install Debian's package pgbouncer, or name it in GATEHOUSE_TEST_PGBOUNCER.",
    )
  return found
}

export async function startPgBouncer(
  server: PostgresServer,
  mode: PoolMode,
  settings: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const program = findPgBouncer()
  if (program === undefined) throw new Error('there is no PgBouncer')
  const folder = await createTemporaryFolder()
  // PgBouncer refuses to run as root, and so runs as another user.
  await chmod(folder.path, 0o755)
  const port = await findFreePort()
  const path = join(folder.path, 'pgbouncer.ini')
  const given = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    ...settings,
  }
  await Bun.write(
    path,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port} user=gatehouse password='${POSTGRES_PASSWORD}'`,
      '[pgbouncer]',
      ...Object.entries(given).map(([name, value]) => `${name} = ${value}`),
      '',
    ].join('\n'),
  )
  const asAnother =
    process.getuid?.() === 0
      ? ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups']
      : []
  // Requested after the change of user, which would remove the setting.
  const command = [...asAnother, ...boundToTest([program, path])]
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  let log = ''
  const collected = (async () => {
    for await (const piece of child.stderr) log += Buffer.from(piece).toString()
  })()
  await pollUntil('PgBouncer', async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${log}`)
    return await accepts(port)
  })
  return {
    urlOf: (database) => `postgres://gatehouse:ignored@127.0.0.1:${port}/${database}`,
    log: () => log,
    async remove() {
      child.kill('SIGKILL')
      await child.exited
      await collected
      await folder.remove()
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
