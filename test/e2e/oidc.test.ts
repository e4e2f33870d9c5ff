/** Signing in with an identity provider, over real HTTP to a provider of the test's own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const password = 'correct horse battery staple'
/** Where the provider sends browsers: agreed on before the server has a port, so the test stands in for the proxy before it. */
const PUBLIC = 'http://gatehouse.test'
let provider: IdentityProvider
let server: Gatehouse

const settingsFor = (of: IdentityProvider): Record<string, string> => ({
  GATEHOUSE_PUBLIC_URL: PUBLIC,
  GATEHOUSE_OIDC_ISSUER: of.issuer,
  GATEHOUSE_OIDC_CLIENT_ID: of.clientId,
  GATEHOUSE_OIDC_CLIENT_SECRET: of.clientSecret,
})

beforeAll(async () => {
  provider = startIdentityProvider()
  server = await startGatehouse({ environment: settingsFor(provider) })
})
afterAll(async () => {
  await server.remove()
  await provider.stop()
})

const openBrowser = () => new Browser(server.url, { origin: PUBLIC })

/** @returns where the browser ends up */
async function signIn(
  browser: Browser,
  change: (callback: string) => string = (same) => same,
): Promise<string> {
  const { url } = (await browser.json('/v1/auth/oidc', 200, {
    method: 'POST',
    body: { returnTo: '/home' },
  })) as {
    url: string
  }
  const there = await fetch(url, { redirect: 'manual' })
  const callback = there.headers.get('location') ?? ''
  expect(callback).toStartWith(`${PUBLIC}/v1/auth/callback/oidc?`)
  const back = await browser.send(change(callback.slice(PUBLIC.length)), { headers: { origin: '' } })
  expect(back.status).toBe(302)
  return back.headers.get('location') ?? ''
}

async function invite(email: string): Promise<void> {
  expect((await controlPlaneCall(server, 'POST', '/v1/invitations', { email })).status).toBe(201)
}

test('an invited person whose address is proven joins the account, and comes back without an invitation', async () => {
  provider.user = { sub: 'sub-ann', email: 'Ann@example.test', email_verified: true, name: 'Ann' }
  const stranger = openBrowser()
  expect(await signIn(stranger)).toContain('error=')
  expect((await stranger.send('/v1/session')).status).toBe(401)

  await invite('ann@example.test')
  const browser = openBrowser()
  expect(await signIn(browser)).toBe('/home')
  expect(await browser.json('/v1/session', 200)).toMatchObject({
    user: { email: 'ann@example.test' },
    role: 'owner',
    account: { id: 'acct_default' },
  })
  expect(await signIn(openBrowser())).toBe('/home')
})

test('an address that the provider does not vouch for opens nothing', async () => {
  await invite('bea@example.test')
  provider.user = { sub: 'sub-bea', email: 'bea@example.test', email_verified: false, name: 'Bea' }
  const browser = openBrowser()
  expect(await signIn(browser)).toContain('error=')
  expect((await browser.send('/v1/session')).status).toBe(401)
})

test("a user with a password is not opened by the provider's word", async () => {
  const created = await controlPlaneCall(server, 'POST', '/v1/invitations', { email: 'cleo@example.test' })
  const { token } = (await created.json()) as { token: string }
  const body = { email: 'cleo@example.test', name: 'Cleo', password, invitation: token }
  await openBrowser().json('/v1/auth/sign-up', 201, { method: 'POST', body })
  provider.user = { sub: 'sub-cleo', email: 'cleo@example.test', email_verified: true, name: 'Cleo' }
  const browser = openBrowser()
  expect(await signIn(browser)).toContain('error=account_not_linked')
  expect((await browser.send('/v1/session')).status).toBe(401)
})

test("another browser's state, a changed one and a second use are refused", async () => {
  provider.user = { sub: 'sub-ann', email: 'ann@example.test', email_verified: true, name: 'Ann' }
  let seen = ''
  const browser = openBrowser()
  expect(await signIn(browser, (callback) => (seen = callback))).toBe('/home')
  const victim = openBrowser()
  expect((await victim.send(seen, { headers: { origin: '' } })).headers.get('location')).toContain('error')
  expect(victim.cookies.has('gatehouse.session_token')).toBe(false)
  const other = openBrowser()
  expect(await signIn(other, (callback) => callback.replace(/state=.{4}/, 'state=0000'))).toContain('error')
  expect((await other.send('/v1/session')).status).toBe(401)
})

test('a callback that nobody began ends on the first page, and without a provider there is none', async () => {
  for (const query of ['', '?state=x&code=y', '?error=access_denied', `?state=${'x'.repeat(5000)}`]) {
    const response = await openBrowser().send(`/v1/auth/callback/oidc${query}`, { headers: { origin: '' } })
    expect({ query, status: response.status }).toEqual({ query, status: 302 })
    expect(response.headers.get('location')).toStartWith(`${PUBLIC}/?`)
    expect(response.headers.getSetCookie().join()).not.toContain('session_token=')
  }
  const without = await startGatehouse()
  try {
    const response = await fetch(`${without.url}/v1/auth/callback/oidc?state=x&code=y`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: 'not_found' })
  } finally {
    await without.remove()
  }
})

test.each(['//evil.test', 'https://evil.test', '/\\evil.test', 'javascript:alert(1)', '', '/a b'])(
  'the way back does not lead to %p',
  async (returnTo) => {
    const response = await openBrowser().send('/v1/auth/oidc', { method: 'POST', body: { returnTo } })
    expect(response.status).toBe(400)
  },
)

test('no token of the provider is kept, and its secret is nowhere', () => {
  const texts = readdirSync(server.dataFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  for (const text of [...texts, server.output()]) {
    for (const canary of ['at-canary', 'rt-canary', provider.clientSecret]) expect(text).not.toContain(canary)
  }
})

test('a provider that cannot be reached is 503 for itself and nothing for passwords; it is asked anew', async () => {
  const gone = startIdentityProvider()
  const settings = settingsFor(gone)
  const port = Number(new URL(gone.issuer).port)
  await gone.stop()
  const lonely = await startGatehouse({ environment: settings })
  let again: IdentityProvider | undefined
  try {
    const browser = new Browser(lonely.url, { origin: PUBLIC })
    const begin = () => browser.send('/v1/auth/oidc', { method: 'POST', body: {} })
    expect((await begin()).status).toBe(503)
    const body = { email: 'owner@example.test', name: 'Owner', password }
    const headers = { authorization: `Bearer ${lonely.key}` }
    await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
    again = startIdentityProvider({ port })
    expect((await begin()).status).toBe(200)
  } finally {
    await lonely.remove()
    await again?.stop()
  }
})
