/**
 * Headers and cookies that keep a neighbour from speaking for a browser: cookies of one host, https
 * for a year, and one host. Over real HTTP; the test stands in for the proxy that ends TLS.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { readSettings } from '../../src/config/settings.ts'
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import { type Listener, listen } from '../../src/net/listen.ts'
import { composeGatehouse, type Gatehouse } from '../../src/run/compose.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { Browser } from '../support/browser.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { sendRaw } from '../support/raw-client.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(120_000)

const SECURE = 'https://gatehouse.test'
const PLAIN = 'http://gatehouse.test'
const password = 'correct horse battery staple'

interface Scene {
  readonly gatehouse: Gatehouse
  readonly listener: Listener
  readonly key: string
}

let folder: TemporaryFolder
let provider: IdentityProvider
let secure: Scene
let plain: Scene

async function open(publicUrl: string): Promise<Scene> {
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: join(folder.path, new URL(publicUrl).protocol.slice(0, -1)),
    GATEHOUSE_SIGN_UP: 'open',
    GATEHOUSE_PUBLIC_URL: publicUrl,
    GATEHOUSE_OIDC_ISSUER: provider.issuer,
    GATEHOUSE_OIDC_CLIENT_ID: provider.clientId,
    GATEHOUSE_OIDC_CLIENT_SECRET: provider.clientSecret,
  })
  const gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  const { key } = await gatehouse.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'caller' })
  const address = { host: '127.0.0.1', port: 0 }
  const listener = listen(address, gatehouse.serve)
  return { gatehouse, listener, key: key.reveal() }
}

beforeAll(async () => {
  folder = await createTemporaryFolder()
  provider = startIdentityProvider()
  secure = await open(SECURE)
  plain = await open(PLAIN)
})
afterAll(async () => {
  for (const { listener, gatehouse } of [secure, plain]) {
    await listener.stop()
    await gatehouse.close()
  }
  await provider.stop()
  await folder.remove()
})

describe('under https', () => {
  test('a cookie can be set by this host alone, and opens the session', async () => {
    const browser = new Browser(secure.listener.url, { origin: SECURE })
    const person = { email: 'ann@example.test', name: 'Ann', password }
    await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body: person })
    const [cookie = ''] = browser.received
    expect(cookie).toMatch(/^__Host-gatehouse\.session_token=/)
    // Browsers take the prefix for nothing else (RFC 6265bis §4.1.3.2).
    for (const attribute of ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax'])
      expect(cookie.split('; ')).toContain(attribute)
    expect(cookie).not.toContain('Domain')
    expect((await browser.send('/v1/session')).status).toBe(200)
    const renamed = cookie.split(';', 1)[0]?.replace('__Host-', '__Secure-') ?? ''
    const stranger = new Browser(secure.listener.url, { origin: SECURE })
    // A neighbour under the same domain could have set this one.
    expect((await stranger.send('/v1/session', { headers: { cookie: renamed } })).status).toBe(401)
    expect((await browser.send('/v1/session', { method: 'DELETE' })).status).toBe(204)
    expect((await browser.send('/v1/session')).status).toBe(401)
  })

  test('an identity provider’s answer is only good with such cookies', async () => {
    provider.user = { sub: 'sub-bo', email: 'bo@example.test', email_verified: true, name: 'Bo' }
    const browser = new Browser(secure.listener.url, { origin: SECURE })
    const { url } = (await browser.json('/v1/auth/oidc', 200, {
      method: 'POST',
      body: { returnTo: '/home' },
    })) as { url: string }
    const there = await fetch(url, { redirect: 'manual' })
    const callback = (there.headers.get('location') ?? '').slice(SECURE.length)
    const back = await browser.send(callback, { headers: { origin: '' } })
    expect(back.headers.get('location')).toBe('/home')
    expect((await browser.send('/v1/session')).status).toBe(200)
    expect(browser.received.length).toBeGreaterThan(1)
    for (const cookie of browser.received) expect(cookie).toStartWith('__Host-gatehouse.')
  })

  test.each(['/', '/dashboard', '/docs', '/v1/session', '/openapi.json', '/nothing', '/healthz'])(
    'browsers get strict transport security: %s',
    async (path) => {
      const ask = ({ listener }: Scene) => fetch(`${listener.url}${path}`, { redirect: 'manual' })
      const header = 'strict-transport-security'
      expect((await ask(secure)).headers.get(header)).toBe('max-age=31536000')
      expect((await ask(plain)).headers.has(header)).toBeFalse()
    },
  )
})

test('without https the cookie has its plain name, and works', async () => {
  const browser = new Browser(plain.listener.url, { origin: PLAIN })
  const person = { email: 'ann@example.test', name: 'Ann', password }
  await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body: person })
  expect(browser.received[0]).toMatch(/^gatehouse\.session_token=/)
  expect((await browser.send('/v1/session')).status).toBe(200)
})

describe('a request has one host', () => {
  const ask = (path: string, headers: string, version = '1.1') =>
    sendRaw(
      plain.listener.url,
      `GET ${path} HTTP/${version}\r\n${headers}connection: close\r\n\r\n`,
    )
  const refused = [
    ['two', 'host: a\r\nhost: b\r\n'],
    ['the same twice', 'host: a\r\nHost: a\r\n'],
    ['two in one', 'host: a, b\r\n'],
    ['none and another', 'host:\r\nhost: b\r\n'],
    ['one with a space in it', 'host: a b\r\n'],
    ['one with a path', 'host: a/v1/models?\r\n'],
  ] as const

  test.each(refused)('%s is refused at every path', async (_, host) => {
    for (const path of [
      '/healthz',
      '/v1/models',
      '/v1/session',
      '/dashboard',
      '/alt/v1/models',
      '/v3/chat',
    ]) {
      const answer = await ask(path, `${host}authorization: Bearer ${plain.key}\r\n`)
      expect({ path, status: answer.status }).toEqual({ path, status: 400 })
      expect(answer.text).toContain("Send exactly one 'host' header")
    }
    expect(JSON.parse((await ask('/v1/models', host)).text)).toMatchObject({
      error: { type: 'invalid_request_error' },
    })
  })

  test('a single valid one is accepted', async () => {
    for (const host of ['a', 'a:80', '[::1]:4000', 'xn--bcher-kva.example'])
      expect((await ask('/healthz', `host: ${host}\r\n`)).status).toBe(200)
  })

  test('an old client without a host may ask for the health, and nothing else', async () => {
    const auth = `authorization: Bearer ${plain.key}\r\n`
    for (const path of ['/healthz', '/healthz?x=/v1/models', '/readyz', '/'])
      expect((await ask(path, '', '1.0')).status).toBe(200)
    for (const path of ['/v1/models', '/v1/gates', '/v1/models?x=/healthz', '//healthz'])
      expect((await ask(path, auth, '1.0')).status).toBe(400)
    // The runtime itself wants one from newer clients.
    expect((await ask('/healthz', '')).status).toBe(400)
  })
})
