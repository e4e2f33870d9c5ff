/**
 * The real server on a real Postgres: all that a client and an operator can notice of where the
 * store is.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../support/browser.ts'
import {
  controlPlaneCall,
  createGate,
  createKey,
  deleteKey,
  waitForLogRow,
} from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  call,
  createPostgresScene,
  expectNoPassword,
  type PostgresScene,
  password,
  startOn,
  waitForRows,
} from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { describeIf } from '../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

/** A request that needs the store gets an error that names it, and that a retry may help. */
async function expectAway(gatehouse: Gatehouse): Promise<void> {
  const answer = await controlPlaneCall(gatehouse, 'GET', '/v1/logs')
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(await answer.json()).toMatchObject({
    error: 'unavailable',
    message: expect.stringMatching(/database/),
  })
}

describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres', () => {
  let scene: PostgresScene
  beforeAll(async () => {
    scene = await createPostgresScene()
  })
  afterAll(() => scene.remove())

  test('keys, gates, calls and users outlive the process, and the data folder holds no copy', async () => {
    const url = await scene.createDatabase()
    const first = await startOn(url)
    let next: Gatehouse | undefined
    try {
      const kept = await createKey(first, 'kept')
      const revoked = await createKey(first, 'revoked')
      await createGate(first, 'mine', 'sandbox/echo')
      const answer = await call(first, kept.key, 'mine')
      expect(answer.status).toBe(200)
      expect(await waitForLogRow(first, answer.headers.get('x-request-id'))).toMatchObject({
        gateId: 'mine',
        outcome: 'succeeded',
        usage: { inputTokens: expect.any(Number) as number },
      })
      await deleteKey(first, revoked.id)

      const browser = new Browser(first.url)
      const owner = { email: 'owner@example.test', name: 'Owner', password }
      const bearer = { authorization: `Bearer ${first.key}` }
      const signedUp = await browser.send('/v1/auth/sign-up', {
        method: 'POST',
        body: owner,
        headers: bearer,
      })
      expect(signedUp.status).toBe(201)
      expect(await browser.json('/v1/session', 200)).toMatchObject({ role: 'owner' })
      expect(await first.stop()).toBe(0)
      expectNoPassword(first.output())
      expect(first.output()).toContain(`Postgres, 127.0.0.1:${scene.server.port}/gateway_1`)
      expect(readdirSync(first.dataFolder).sort()).toEqual([
        'gatehouse.lock',
        'installation.json',
        'journal',
        'master.key',
        'node-id',
      ])

      next = await startOn(url, { dataFolder: first.dataFolder, key: first.key })
      expect((await call(next, kept.key, 'mine')).status).toBe(200)
      expect((await call(next, revoked.key, 'mine')).status).toBe(401)
      const later = new Browser(next.url)
      for (const [name, value] of browser.cookies) later.cookies.set(name, value)
      expect(await later.json('/v1/session', 200)).toMatchObject({ role: 'owner' })
      const anew = new Browser(next.url)
      const signIn = { method: 'POST', body: { email: owner.email, password } }
      expect((await anew.send('/v1/auth/sign-in', signIn)).status).toBe(200)
      expect((await anew.json('/v1/sessions', 200)).data).toBeArrayOfSize(2)
      const wrong = {
        method: 'POST',
        body: { email: owner.email, password: 'not the password at all' },
      }
      expect((await new Browser(next.url).send('/v1/auth/sign-in', wrong)).status).toBe(401)
      const log = await controlPlaneCall(next, 'GET', '/v1/audit-log')
      expect(await log.text()).toContain('key.delete')
    } finally {
      await next?.remove()
      await first.remove()
    }
  })

  test('changes at once leave no warning of a library on standard error', async () => {
    const gatehouse = await startOn(await scene.createDatabase())
    try {
      await Promise.all(Array.from({ length: 20 }, (_, index) => createKey(gatehouse, `k${index}`)))
      expect(gatehouse.output()).not.toContain('Warning')
    } finally {
      await gatehouse.remove()
    }
  })

  test('calls are served while Postgres is away, and are in the log afterwards, once each', async () => {
    const gatehouse = await startOn(await scene.createDatabase())
    try {
      const ids = new Set<string>()
      const callSome = async () => {
        for (let made = 0; made < 10; made += 1) {
          const answer = await call(gatehouse)
          expect(answer.status).toBe(200)
          ids.add(answer.headers.get('x-request-id') ?? '')
          await answer.text()
        }
      }
      await callSome()
      await scene.server.stop('immediate')
      await callSome()
      await expectAway(gatehouse)
      await scene.server.start()
      await pollUntil(
        'the control plane',
        async () => (await controlPlaneCall(gatehouse, 'GET', '/v1/logs')).ok,
      )
      const rows = await waitForRows(gatehouse, ids)
      expect(rows).toHaveLength(20)
      expectNoPassword(gatehouse.output())
    } finally {
      await gatehouse.remove()
    }
  })

  test('a silent Postgres is given up, and used again when it answers', async () => {
    const gatehouse = await startGatehouse({
      sandbox: true,
      environment: {
        DATABASE_URL: await scene.createDatabase(),
        GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS: '500',
      },
    })
    try {
      const ids = new Set<string>()
      ids.add((await call(gatehouse)).headers.get('x-request-id') ?? '')
      await waitForRows(gatehouse, ids)
      scene.server.signal('SIGSTOP')
      const answer = await call(gatehouse)
      expect(answer.status).toBe(200)
      ids.add(answer.headers.get('x-request-id') ?? '')
      await expectAway(gatehouse)
      await pollUntil('the shipper to give up', () => gatehouse.output().includes('ship-failed'), {
        timeoutMs: 50_000,
      })
      scene.server.signal('SIGCONT')
      expect(await waitForRows(gatehouse, ids)).toHaveLength(2)
    } finally {
      scene.server.signal('SIGCONT')
      await gatehouse.remove()
    }
  })

  describe('an installation on SQLite', () => {
    test('is moved whole: keys, users, provider keys and calls continue', async () => {
      const url = await scene.createDatabase()
      const old = await startGatehouse({ sandbox: true })
      let moved: Gatehouse | undefined
      try {
        const kept = await createKey(old, 'kept')
        const browser = new Browser(old.url)
        const body = { email: 'owner@example.test', name: 'Owner', password }
        await browser.json('/v1/auth/sign-up', 201, {
          method: 'POST',
          body,
          headers: { authorization: `Bearer ${old.key}` },
        })
        const secret = { key: 'sk-a-provider-key-that-is-long-enough' }
        expect(
          (await controlPlaneCall(old, 'PUT', '/v1/provider-keys/openai', secret)).status,
        ).toBeLessThan(300)
        const shipped = (await call(old)).headers.get('x-request-id')
        await waitForLogRow(old, shipped)
        const environment = { DATABASE_URL: url, GATEHOUSE_DATA_DIR: old.dataFolder }
        expect((await runCliInProcess(['store', 'copy'], { environment })).stderr).toContain(
          'is in use by the server',
        )
        const waiting = (await call(old)).headers.get('x-request-id')
        await old.kill()

        const copied = await runCli(['store', 'copy'], { environment })
        expect(copied.stdout).toMatch(/^api_keys +2$/m)
        expect(copied.stdout).toContain(`to Postgres, 127.0.0.1:${scene.server.port}`)
        expectNoPassword(copied.stdout + copied.stderr)
        const again = await runCliInProcess(['store', 'copy'], { environment })
        expect(again.stderr).toContain('not empty')
        expect(again.exitCode).not.toBe(0)

        moved = await startOn(url, { dataFolder: old.dataFolder, key: old.key })
        expect((await call(moved, kept.key)).status).toBe(200)
        for (const id of [shipped, waiting])
          expect(await waitForLogRow(moved, id)).toMatchObject({ outcome: 'succeeded' })
        const later = new Browser(moved.url)
        for (const [name, value] of browser.cookies) later.cookies.set(name, value)
        expect(await later.json('/v1/session', 200)).toMatchObject({ role: 'owner' })
        const status = await runCliInProcess(['master-key', 'status', '--json'], { environment })
        expect(JSON.parse(status.stdout)).toMatchObject({
          tables: expect.arrayContaining([
            { table: 'provider_keys', current: 1, previous: 0, unopened: 0 },
          ]) as unknown,
        })
        const rotated = await runCliInProcess(['master-key', 'rotate'], { environment })
        expect(rotated.stdout).toContain('2 credentials encrypted again')
      } finally {
        await moved?.remove()
        await old.remove()
      }
    })

    test('takes no user by the command line while it is copied, who would be left behind', async () => {
      const url = await scene.createDatabase()
      const old = await startGatehouse()
      const released = Promise.withResolvers<void>()
      try {
        await old.kill()
        const environment = { DATABASE_URL: url, GATEHOUSE_DATA_DIR: old.dataFolder }
        const name = new URL(url).pathname.slice(1)
        // The last table: by then those of users are copied.
        const lock = scene.server.hold(
          'BEGIN; LOCK TABLE audit_log IN SHARE MODE',
          name,
          released.promise,
        )
        await lock.held
        const copying = runCli(['store', 'copy'], { environment })
        await pollUntil('a copy that has come to its last table', async () => {
          const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted'
          return (await scene.server.run(waiting, name)).length > 0
        })
        const invited = await runCliInProcess(['users', 'invite', 'late@example.test'], {
          environment: { GATEHOUSE_DATA_DIR: old.dataFolder },
        })
        expect(invited.stderr).toContain('is in use by another Gatehouse process')
        expect(invited.exitCode).not.toBe(0)
        released.resolve()
        await lock.ended
        expect((await copying).stdout).toMatch(/^invitations +0$/m)
      } finally {
        released.resolve()
        await old.remove()
      }
    })

    test('that cannot be marked as an old copy is not copied, until it can', async () => {
      const url = await scene.createDatabase()
      const old = await startGatehouse()
      try {
        await old.kill()
        const file = new Database(join(old.dataFolder, 'gatehouse.db'))
        // As a disk does that has room for no more than it holds.
        const failing = "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
        file.run(`CREATE TRIGGER failing BEFORE UPDATE OF moved_to ON installation ${failing}`)
        const environment = { DATABASE_URL: url, GATEHOUSE_DATA_DIR: old.dataFolder }
        const failed = await runCliInProcess(['store', 'copy'], { environment })
        expect(failed.stderr).toContain('database or disk is full')
        file.run('DROP TRIGGER failing')
        file.close()

        const copied = await runCliInProcess(['store', 'copy'], { environment })
        expect(copied.stderr).toBe('')
        expect(copied.stdout).toMatch(/^api_keys +1$/m)
        const { dataFolder, key } = old
        await expect(startGatehouse({ dataFolder, key })).rejects.toThrow('found an old copy')
      } finally {
        await old.remove()
      }
    })
  })
})
