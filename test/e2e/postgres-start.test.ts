/**
 * How the server begins on a Postgres: several at once, not at all, and what the operator is told.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { examine, found } from '../support/examine.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  call,
  createPostgresScene,
  expectNoPassword,
  type PostgresScene,
  password,
  startOn,
} from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres', () => {
  let scene: PostgresScene
  beforeAll(async () => {
    scene = await createPostgresScene()
  })
  afterAll(() => scene.remove())

  describe('several gateways that start at once on an empty database', () => {
    test('create its tables together, and all of them accept the first key and serve the first gate', async () => {
      const url = await scene.createEmptyDatabase()
      const key = createBootstrapKey()
      const servers = await Promise.all([1, 2, 3].map(() => startOn(url, { key })))
      try {
        for (const server of servers) expect((await call(server)).status).toBe(200)
        const database = new URL(url).pathname.slice(1)
        const [counted] = await scene.server.run('SELECT count(*) AS keys FROM api_keys', database)
        expect(counted).toEqual({ keys: '1' })
        const [gates] = await scene.server.run('SELECT count(*) AS gates FROM gates', database)
        expect(gates).toEqual({ gates: '1' })
      } finally {
        for (const server of servers) await server.remove()
      }
    })

    test('show one first key in all, if no key was given', async () => {
      const url = await scene.createEmptyDatabase()
      const servers = await Promise.all(
        [1, 2, 3].map(() =>
          startGatehouse({
            environment: {
              ...PATIENT_WITH_DATABASE,
              DATABASE_URL: url,
              GATEHOUSE_BOOTSTRAP_KEY: '',
            },
          }),
        ),
      )
      try {
        const shown = servers.flatMap(
          (server) => server.output().match(/^ {2}(sk-svc-[0-9a-f]{64})$/m)?.[1] ?? [],
        )
        expect(shown).toHaveLength(1)
        for (const server of servers)
          expect(
            (await controlPlaneCall({ ...server, key: shown[0] ?? '' }, 'GET', '/v1/keys')).status,
          ).toBe(200)
      } finally {
        for (const server of servers) await server.remove()
      }
    })
  })

  test('a start waits for the migrating node, for longer than the limit on statements', async () => {
    const url = await scene.createEmptyDatabase()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const holding = scene.server.hold(
      'SELECT pg_advisory_lock(3853314791062309107)',
      new URL(url).pathname.slice(1),
      released,
    )
    await holding.held
    const starting = startGatehouse({
      environment: {
        ...PATIENT_WITH_DATABASE,
        DATABASE_URL: url,
        GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS: '300',
      },
    })
    const waiters = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    await pollUntil('a start that waits', async () => (await scene.server.run(waiters)).length > 0)
    // Several times what a statement may take.
    await Bun.sleep(900)
    release()
    await (await starting).remove()
    await holding.ended
  })

  /** Why a server did not start. */
  async function refusal(url: string): Promise<string> {
    const folder = await createTemporaryFolder()
    const { exitCode, stdout, stderr } = await runCli(['serve'], {
      environment: { DATABASE_URL: url, GATEHOUSE_PORT: '0', GATEHOUSE_DATA_DIR: folder.path },
    })
    await folder.remove()
    expect(exitCode).not.toBe(0)
    expectNoPassword(stdout + stderr)
    return stderr
  }

  describe('the start fails', () => {
    test('when a migration fails, which leaves nothing behind', async () => {
      const url = await scene.createEmptyDatabase()
      const database = new URL(url).pathname.slice(1)
      await scene.server.run('CREATE TABLE webhooks (id text)', database)
      expect(await refusal(url)).toMatch(/could not be brought up to date.*0001_baseline.*webhooks/)
      const tables = await scene.server.run(
        "SELECT 1 FROM pg_tables WHERE tablename IN ('accounts', 'calls')",
        database,
      )
      expect(tables).toEqual([])
      await scene.server.run('DROP TABLE webhooks', database)
      await (await startOn(url)).remove()
    })

    test('on a database of a newer version', async () => {
      const url = await scene.createDatabase()
      await scene.server.run(
        "INSERT INTO kysely_migration (name, timestamp) VALUES ('0999_from_the_future', '2030')",
        new URL(url).pathname.slice(1),
      )
      expect(await refusal(url)).toContain(
        'newer version of Gatehouse (it holds the migration 0999_from_the_future)',
      )
    })

    test.each([
      [
        'nothing listens there',
        (url: URL) => Object.assign(url, { port: '1' }),
        'nothing listens there',
      ],
      [
        'the password is wrong',
        (url: URL) => Object.assign(url, { password: 'planted' }),
        'refuses the user or the password',
      ],
      [
        'there is no such database',
        (url: URL) => Object.assign(url, { pathname: '/none' }),
        'no such database',
      ],
      [
        'it does not encrypt',
        (url: URL) => Object.assign(url, { search: '?sslmode=require' }),
        'does not support SSL',
      ],
    ] as const)('when %s', async (_name, change, reason) => {
      const said = await refusal(change(new URL(scene.server.urlOf('postgres'))).href)
      expect(said).toContain(reason)
      expect(said).not.toContain('planted')
      expect(said.trim().split('\n')).toHaveLength(1)
    })
  })

  describe('the operator sees', () => {
    let folder: TemporaryFolder
    beforeAll(async () => {
      folder = await createTemporaryFolder()
    })
    afterAll(() => folder.remove())

    test('the store and the reason why it is unusable, by doctor', async () => {
      const url = await scene.createDatabase()
      const environment = { GATEHOUSE_DATA_DIR: folder.path, DATABASE_URL: url }
      const examined = await examine(environment)
      expect(found(examined, 'database', 'ok')).toMatch(
        /Postgres, 127\.0\.0\.1:\d+\/gateway_\d+ \(version \d+.*not encrypted\)/,
      )
      expectNoPassword(examined.said)
      await scene.server.run(
        "INSERT INTO kysely_migration VALUES ('0999_later', '2030')",
        new URL(url).pathname.slice(1),
      )
      expect(found(await examine(environment), 'database', 'fail')).toContain('0999_later')
      const away = await examine({ ...environment, DATABASE_URL: url.replace(/:\d+\//, ':1/') })
      expect(found(away, 'database', 'fail')).toContain('nothing listens there')
      expectNoPassword(away.said)
    })

    test('that hashes need a master key, by doctor and in the log of a start', async () => {
      const url = await scene.createDatabase()
      const environment = { GATEHOUSE_DATA_DIR: folder.path, DATABASE_URL: url }
      expect(found(await examine(environment), 'master key', 'warn')).toContain(
        'calls count for members only',
      )
      const withKey = { ...environment, GATEHOUSE_MASTER_KEY: 'c0ffee00'.repeat(8) }
      expect(found(await examine(withKey), 'master key', 'ok')).toContain('opens everything')
      const server = await startOn(url)
      try {
        expect(server.output()).toContain('set GATEHOUSE_MASTER_KEY on every node')
      } finally {
        await server.remove()
      }
    })

    test('the users, by the command line beside a server', async () => {
      const url = await scene.createDatabase()
      const server = await startOn(url)
      const environment = { GATEHOUSE_DATA_DIR: server.dataFolder, DATABASE_URL: url }
      try {
        const invited = await runCliInProcess(['users', 'invite', 'guest@example.test', '--json'], {
          environment,
        })
        const { token } = JSON.parse(invited.stdout) as { token: string }
        const body = { email: 'guest@example.test', name: 'Guest', password, invitation: token }
        const joined = await new Browser(server.url).send('/v1/auth/sign-up', {
          method: 'POST',
          body,
        })
        expect(joined.status).toBe(201)
        expect((await runCliInProcess(['users', 'list'], { environment })).stdout).toContain(
          'guest@example.test',
        )
      } finally {
        await server.remove()
      }
    })
  })
})
