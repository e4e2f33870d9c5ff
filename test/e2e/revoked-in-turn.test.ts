/**
 * A change that waits for its turn at the account while the key that asked for it is deleted, the
 * member removed, or their password changed: over real HTTP, on Postgres, whose lock of the account
 * is held from outside.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createKey } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene, startOn } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import type { Gatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const LOCK = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('account acct_default', 0))"

describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres', () => {
  let scene: PostgresScene
  let database: string
  let server: Gatehouse
  beforeAll(async () => {
    scene = await createPostgresScene()
    const url = await scene.createDatabase()
    database = new URL(url).pathname.slice(1)
    server = await startOn(url)
  })
  afterAll(async () => {
    await server?.remove()
    await scene?.remove()
  })

  const waiting = (count: number) =>
    pollUntil(`${count} to wait for the account`, async () => {
      const locks = await scene.server.run(
        "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
        database,
      )
      return locks.length === count
    })

  /** @returns what lets the account go */
  async function holdAccount(): Promise<() => Promise<void>> {
    const released = Promise.withResolvers<void>()
    const { held, ended } = scene.server.hold(LOCK, database, released.promise)
    await held
    return () => {
      released.resolve()
      return ended
    }
  }

  test.each([
    ['key', '/v1/keys', { name: 'left behind' }],
    ['invitation', '/v1/invitations', { email: 'left-behind@example.test' }],
  ])('a deleted key leaves no %s behind that waited for its turn', async (_, path, body) => {
    const { id, key } = await createKey(server, 'leaked')
    const letGo = await holdAccount()
    const change = controlPlaneCall({ url: server.url, key }, 'POST', path, body)
    await waiting(1)
    expect((await controlPlaneCall(server, 'DELETE', `/v1/keys/${id}`)).status).toBe(200)
    await letGo()
    expect((await change).status).toBe(401)
    expect(await (await controlPlaneCall(server, 'GET', path)).text()).not.toContain('left')
  })

  const password = 'correct horse battery staple'
  const hook = {
    url: 'https://1.1.1.1/left-behind',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    events: ['budget.threshold'],
  }
  let owner: Browser
  beforeAll(async () => {
    owner = new Browser(server.url)
    const signUp = { email: 'owner@example.test', name: 'Owner', password }
    const headers = { authorization: `Bearer ${server.key}` }
    await owner.json('/v1/auth/sign-up', 201, { method: 'POST', body: signUp, headers })
  })

  test.each([
    ['key', '/v1/keys', { name: 'left behind' }],
    ['invitation', '/v1/invitations', { email: 'left-behind@example.test' }],
    ['webhook', '/v1/webhooks', hook],
  ])('a removed member leaves no %s behind that waited for its turn', async (thing, path, body) => {
    const email = `leaving-with-${thing}@example.test`
    const { token } = await owner.json('/v1/invitations', 201, { method: 'POST', body: { email } })
    const leaving = new Browser(server.url)
    const joining = { email, name: 'Leaving', password, invitation: token }
    await leaving.json('/v1/auth/sign-up', 201, { method: 'POST', body: joining })
    const { user } = (await leaving.json('/v1/session', 200)) as { user: { id: string } }

    const letGo = await holdAccount()
    const removal = owner.send(`/v1/members/${user.id}`, { method: 'DELETE' })
    await waiting(1)
    const change = leaving.send(path, { method: 'POST', body })
    await waiting(2)
    await letGo()
    expect((await removal).status).toBe(204)
    expect((await change).status).toBe(401)
    expect(await (await controlPlaneCall(server, 'GET', path)).text()).not.toContain('left')
  })

  test('a stolen session leaves no key behind once the password is another', async () => {
    const thief = new Browser(server.url)
    for (const [name, value] of owner.cookies) thief.cookies.set(name, value)
    const letGo = await holdAccount()
    const change = thief.send('/v1/keys', { method: 'POST', body: { name: 'left behind' } })
    await waiting(1)
    const newPassword = 'incorrect horse battery staple'
    const body = { currentPassword: password, newPassword }
    await owner.json('/v1/auth/password', 204, { method: 'POST', body })
    await letGo()
    expect((await change).status).toBe(401)
    expect(await (await controlPlaneCall(server, 'GET', '/v1/keys')).text()).not.toContain('left')
    await owner.json('/v1/keys', 201, { method: 'POST', body: { name: 'of the owner' } })
  })
})
