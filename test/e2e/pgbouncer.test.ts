/**
 * PgBouncer between the nodes and Postgres: session mode works with its default configuration, and
 * the modes that share sessions are refused by name at the start.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import { controlPlaneCall } from '../support/control-plane.ts'
import { examine, found } from '../support/examine.ts'
import {
  findPgBouncer,
  type PgBouncer,
  type PoolMode,
  startPgBouncer,
} from '../support/pgbouncer.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  call,
  createPostgresScene,
  type PostgresScene,
  startOn,
  waitForRows,
} from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { runCli } from '../support/run-cli.ts'
import { describeIf } from '../support/skip-unless.ts'
import type { Gatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

describeIf(
  findPostgres() !== undefined && findPgBouncer() !== undefined,
  'needs Postgres and pgbouncer',
)('behind PgBouncer', () => {
  let scene: PostgresScene
  let pooler: PgBouncer | undefined
  const running: Gatehouse[] = []
  beforeAll(async () => {
    scene = await createPostgresScene()
  })
  afterEach(async () => {
    for (const server of running.splice(0)) await server.remove()
    await pooler?.remove()
    pooler = undefined
  })
  afterAll(() => scene.remove())

  async function poolerOf(mode: PoolMode, settings: Record<string, string> = {}) {
    pooler = await startPgBouncer(scene.server, mode, settings)
    return pooler
  }

  /** @returns its address through the pooler */
  async function createEmptyDatabase({ urlOf }: PgBouncer) {
    const database = new URL(await scene.createEmptyDatabase()).pathname.slice(1)
    return { database, url: urlOf(database) }
  }

  async function start(url: string): Promise<Gatehouse> {
    const server = await startOn(url)
    running.push(server)
    return server
  }

  test('in session mode two nodes make their tables, serve, and follow each other', async () => {
    const { url } = await createEmptyDatabase(await poolerOf('session'))
    const one = await start(url)
    const two = await startOn(url, { key: one.key })
    running.push(two)
    const made = await controlPlaneCall(one, 'POST', '/v1/keys', { name: 'second' })
    const { key, id } = (await made.json()) as { key: string; id: string }
    const answers = await Promise.all(
      [one, two].flatMap((node) => [call(node), call(node, key), call(node, key)]),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    await waitForRows(one, new Set(answers.map(({ headers }) => headers.get('x-request-id') ?? '')))
    await controlPlaneCall(one, 'DELETE', `/v1/keys/${id}`)
    expect((await call(two, key)).status).toBe(401)
  })

  test('in session mode an outage of Postgres is survived', async () => {
    const { url } = await createEmptyDatabase(
      await poolerOf('session', { server_login_retry: '1' }),
    )
    const server = await start(url)
    expect((await call(server)).status).toBe(200)
    await scene.server.stop('immediate')
    const ids = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      const answer = await call(server)
      expect(answer.status).toBe(200)
      ids.add(answer.headers.get('x-request-id') ?? '')
    }
    await scene.server.start()
    await pollUntil('the control plane', async () => {
      const answer = await controlPlaneCall(server, 'POST', '/v1/keys', { name: 'later' })
      return answer.status === 201
    })
    await waitForRows(server, ids)
  })

  test.each(['transaction', 'statement'] as const)(
    'in %s mode the start stops, names the mode and the cure, and has made nothing',
    async (mode) => {
      const { url, database } = await createEmptyDatabase(await poolerOf(mode))
      const said = await start(url).then(() => 'started', String)
      expect(said).toContain(`in ${mode} mode`)
      expect(said).toContain('pool_mode = session')
      expect(said).toContain(`/${database}`)
      const [tables] = await scene.server.run<{ readonly count: string }>(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'",
        database,
      )
      expect(tables).toEqual({ count: '0' })
    },
  )

  test.each(['0', '1'])(
    'in transaction mode the start stops beside other nodes too, server_round_robin %s',
    async (server_round_robin) => {
      const bouncer = await poolerOf('transaction', { server_round_robin })
      const { url } = await createEmptyDatabase(bouncer)
      // Sessions that others have left to be shared.
      const others = await Promise.all(
        [1, 2, 3, 4].map(async () => {
          const client = new pg.Client({ connectionString: url })
          await client.connect()
          await client.query('BEGIN')
          return client
        }),
      )
      for (const client of others) await client.query('COMMIT')
      try {
        expect(await start(url).then(() => 'started', String)).toContain('in transaction mode')
      } finally {
        for (const client of others) await client.end()
      }
    },
  )

  test('doctor and commands work in session mode, and doctor names another mode', async () => {
    const bouncer = await poolerOf('session')
    const { url, database } = await createEmptyDatabase(bouncer)
    const server = await start(url)
    await server.stop()
    const environment = { DATABASE_URL: url, GATEHOUSE_DATA_DIR: server.dataFolder }
    expect(found(await examine(environment), 'database', 'fail')).toBe('')
    const listed = await runCli(['keys', 'list', '--json'], { environment })
    expect(listed.exitCode).toBe(0)
    await bouncer.remove()
    const other = await poolerOf('transaction')
    const folder = await createTemporaryFolder()
    const inTransactions = { DATABASE_URL: other.urlOf(database), GATEHOUSE_DATA_DIR: folder.path }
    expect(found(await examine(inTransactions), 'database', 'fail')).toContain(
      'pool_mode = session',
    )
    await folder.remove()
  })
})
