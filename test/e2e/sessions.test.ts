/**
 * Sessions over real HTTP: how they end, what they are not, and that nothing of them can be read
 * from outside.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { readFolder } from '../support/read-folder.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

// Every password that is tried costs a tenth of a second of a free core.
setDefaultTimeout(180_000)

const ADDRESS_HEADER = 'x-test-client'
const environment = { GATEHOUSE_CLIENT_ADDRESS_HEADER: ADDRESS_HEADER }
const password = 'correct horse battery staple'
let server: Gatehouse
let next = 0

/** Each has a separate address, so that one test's tries are not another's. */
function openBrowser(): Browser {
  next += 1
  return new Browser(server.url, { [ADDRESS_HEADER]: `192.0.2.${next}` })
}

async function invite(email: string): Promise<string> {
  const response = await controlPlaneCall(server, 'POST', '/v1/invitations', { email })
  expect(response.status).toBe(201)
  return ((await response.json()) as { token: string }).token
}

async function signUp(
  browser: Browser,
  email: string,
  more: object,
  headers: Record<string, string> = {},
) {
  const body = { email, name: 'Somebody', password, ...more }
  return await browser.send('/v1/auth/sign-up', { method: 'POST', body, headers })
}

async function joinBy(email: string): Promise<Browser> {
  const browser = openBrowser()
  const response = await signUp(browser, email, { invitation: await invite(email) })
  expect(response.status).toBe(201)
  return browser
}

const signIn = (browser: Browser, email: string, given = password) =>
  browser.send('/v1/auth/sign-in', { method: 'POST', body: { email, password: given } })

beforeAll(async () => {
  server = await startGatehouse({ sandbox: true, environment })
})
afterAll(() => server.remove())

describe('sessions', () => {
  test('are listed, and a revoked one is refused from the next request on', async () => {
    const laptop = await joinBy('roaming@example.test')
    const phone = openBrowser()
    expect((await signIn(phone, 'roaming@example.test')).status).toBe(200)
    const { data } = (await laptop.json('/v1/sessions', 200)) as {
      data: { id: string; current: boolean; address: string }[]
    }
    expect(data.map(({ current }) => current)).toEqual([false, true])
    expect(data[0]?.address).toMatch(/^192\.0\.2\.\d+$/)

    const other = await joinBy('nosy@example.test')
    expect((await other.send(`/v1/sessions/${data[0]?.id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await phone.send('/v1/session')).status).toBe(200)
    expect((await laptop.send(`/v1/sessions/${data[0]?.id}`, { method: 'DELETE' })).status).toBe(
      204,
    )
    expect((await phone.send('/v1/session')).status).toBe(401)
    expect((await laptop.send('/v1/session')).status).toBe(200)
  })

  test('made while the clock was days ahead end when it is right again', async () => {
    const browser = await joinBy('ahead@example.test')
    const endIn = (days: number) => {
      const database = new Database(join(server.dataFolder, 'gatehouse.db'))
      database.run(
        `UPDATE user_sessions SET expires_at = ?
         WHERE user_id = (SELECT id FROM users WHERE email = 'ahead@example.test')`,
        [new Date(Date.now() + days * 86_400_000).toISOString()],
      )
      database.close()
    }
    endIn(6)
    expect((await browser.send('/v1/session')).status).toBe(200)
    endIn(407)
    expect((await browser.send('/v1/session')).status).toBe(401)
    expect((await signIn(browser, 'ahead@example.test')).status).toBe(200)
    expect((await browser.send('/v1/session')).status).toBe(200)
  })

  test('end with signing out, even for a copy of the cookie', async () => {
    const browser = await joinBy('leaving@example.test')
    const copy = browser.cookieHeader()
    await browser.json('/v1/session', 204, { method: 'DELETE' })
    expect(browser.cookies.size).toBe(0)
    expect((await openBrowser().send('/v1/session', { headers: { cookie: copy } })).status).toBe(
      401,
    )
  })

  test('end with a new password, except for the one that set it', async () => {
    const here = await joinBy('changing@example.test')
    const there = openBrowser()
    await signIn(there, 'changing@example.test')
    const change = (currentPassword: string, newPassword: string) =>
      here.send('/v1/auth/password', { method: 'POST', body: { currentPassword, newPassword } })
    expect((await change('not my password', 'another long password')).status).toBe(400)
    expect((await change(password, 'short')).status).toBe(400)
    expect((await change(password, 'another long password')).status).toBe(204)
    expect((await here.send('/v1/session')).status).toBe(200)
    expect((await there.send('/v1/session')).status).toBe(401)
    expect((await signIn(there, 'changing@example.test')).status).toBe(401)
    expect((await signIn(there, 'changing@example.test', 'another long password')).status).toBe(200)
  })

  test('cannot make calls', async () => {
    const browser = await joinBy('caller@example.test')
    for (const path of [
      '/v1/responses',
      '/v1/chat/completions',
      '/v3/chat',
      '/alt/v1/fim/completions',
    ]) {
      const body = { model: 'demo', gate_id: 'demo', input: 'x', prompt: 'x', messages: [] }
      expect((await browser.send(path, { method: 'POST', body })).status).toBe(401)
    }
    expect((await browser.send('/v1/models')).status).toBe(401)
  })

  test.each([
    ['no signature', 'gatehouse.session_token=abc'],
    ['a wrong signature', `gatehouse.session_token=abc.${'A'.repeat(43)}%3D`],
    ['nothing', 'gatehouse.session_token='],
    ['broken escapes', 'gatehouse.session_token=%E0%A4%A'],
    ['very long', `gatehouse.session_token=${'x'.repeat(4000)}`],
  ])('are refused with a cookie of %s', async (_name, cookie) => {
    expect((await openBrowser().send('/v1/gates', { headers: { cookie } })).status).toBe(401)
  })
})

test('sessions outlive a restart; no secret of a user is in a file or in the log', async () => {
  const first = await startGatehouse({ environment: { GATEHOUSE_LOG_LEVEL: 'trace' } })
  const browser = new Browser(first.url)
  const secret = 'plainly visible canary 1'
  const body = { email: 'singer@example.test', name: 'Canary', password: secret }
  const headers = { authorization: `Bearer ${first.key}` }
  await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
  const { token } = (await browser.json('/v1/invitations', 201, {
    method: 'POST',
    body: { email: 'x@example.test' },
  })) as { token: string }
  const wrong = 'plainly visible canary 2'
  const signInBody = { email: 'singer@example.test', password: wrong }
  expect(
    (await browser.send('/v1/auth/sign-in', { method: 'POST', body: signInBody })).status,
  ).toBe(401)
  expect(await first.stop()).toBe(0)

  const again = await startGatehouse({ dataFolder: first.dataFolder, key: first.key })
  try {
    const moved = new Browser(again.url)
    for (const [name, value] of browser.cookies) moved.cookies.set(name, value)
    expect(await moved.json('/v1/session', 200)).toMatchObject({
      user: { email: 'singer@example.test' },
    })
    const [cookie = ''] = browser.cookies.values()
    const [sessionToken = '', signature = ''] = decodeURIComponent(cookie).split('.')
    expect(sessionToken.length).toBeGreaterThan(20)
    const secrets = { secret, wrong, token, sessionToken, signature, key: first.key }
    const places = new Map(readFolder(first.dataFolder).map(({ path, text }) => [path, text]))
    places.set('the log', first.output() + again.output())
    expect(places.size).toBeGreaterThan(3)
    for (const [place, text] of places) {
      for (const [name, value] of Object.entries(secrets)) {
        expect({ place, name, found: text.includes(value) }).toEqual({ place, name, found: false })
      }
    }
  } finally {
    await again.remove()
    await first.remove()
  }
})
