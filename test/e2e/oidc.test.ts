/** Signing in with an identity provider, over real HTTP to a provider of the test's own. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { readFolder } from '../support/read-folder.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const password = 'correct horse battery staple'
/**
 * Where the provider sends browsers: agreed on before the server has a port, so the test stands in
 * for the proxy before it.
 */
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
  invitation?: string,
): Promise<string> {
  const { url } = (await browser.json('/v1/auth/oidc', 200, {
    method: 'POST',
    body: { returnTo: '/home', ...(invitation && { invitation }) },
  })) as {
    url: string
  }
  const there = await fetch(url, { redirect: 'manual' })
  const callback = there.headers.get('location') ?? ''
  expect(callback).toStartWith(`${PUBLIC}/v1/auth/callback/oidc?`)
  const back = await browser.send(change(callback.slice(PUBLIC.length)), {
    headers: { origin: '' },
  })
  expect(back.status).toBe(302)
  return back.headers.get('location') ?? ''
}

const joinBy = (browser: Browser, invitation: string) => signIn(browser, (same) => same, invitation)

async function invite(email: string): Promise<string> {
  const made = await controlPlaneCall(server, 'POST', '/v1/invitations', { email })
  expect(made.status).toBe(201)
  return ((await made.json()) as { token: string }).token
}

test('an invited user with a verified address joins by the token, and later signs in without one', async () => {
  provider.user = { sub: 'sub-ann', email: 'Ann@example.test', email_verified: true, name: 'Ann' }
  const stranger = openBrowser()
  expect(await signIn(stranger)).toContain('error=')
  expect((await stranger.send('/v1/session')).status).toBe(401)

  const token = await invite('ann@example.test')
  const browser = openBrowser()
  expect(await joinBy(browser, token)).toBe('/home')
  expect(await browser.json('/v1/session', 200)).toMatchObject({
    user: { email: 'ann@example.test' },
    role: 'owner',
    account: { id: 'acct_default' },
  })
  expect(await signIn(openBrowser())).toBe('/home')
})

test('an invitation that was not handed on captures no user, however many there are', async () => {
  provider.user = { sub: 'sub-vic', email: 'vic@example.test', email_verified: true, name: 'Vic' }
  const tokens = [await invite('vic@example.test'), await invite('vic@example.test')]
  const browser = openBrowser()
  expect(await signIn(browser)).toContain('error=not_invited')
  expect((await browser.send('/v1/session')).status).toBe(401)
  for (const wrong of [await invite('somebody-else@example.test'), 'inv-none', 'x'.repeat(200)])
    expect(await joinBy(openBrowser(), wrong)).toContain('error=not_invited')

  expect(await joinBy(browser, tokens[0] ?? '')).toBe('/home')
  expect(await browser.json('/v1/session', 200)).toMatchObject({ role: 'member' })
  const statuses = (await browser.json('/v1/invitations', 200)).data as {
    email: string
    status: string
  }[]
  expect(
    statuses.filter(({ email }) => email === 'vic@example.test').map(({ status }) => status),
  ).toEqual(['open', 'accepted'])
  // One who belongs to an account stays there, whatever they are invited with.
  expect(await joinBy(openBrowser(), tokens[1] ?? '')).toBe('/home')
})

test('an invitation that was not handed on captures no user if sign-up is open, either', async () => {
  const open = await startGatehouse({
    environment: { ...settingsFor(provider), GATEHOUSE_SIGN_UP: 'open' },
  })
  try {
    const [own, joined] = [1, 2].map(() => new Browser(open.url, { origin: PUBLIC }))
    if (own === undefined || joined === undefined) throw new Error('no browsers')
    const made = await controlPlaneCall(open, 'POST', '/v1/invitations', {
      email: 'una@example.test',
    })
    expect(made.status).toBe(201)
    provider.user = { sub: 'sub-una', email: 'una@example.test', email_verified: true, name: 'Una' }
    expect(await signIn(own)).toBe('/home')
    const session = await own.json('/v1/session', 200)
    expect(session).toMatchObject({ role: 'owner', account: { name: 'una@example.test' } })
    expect((session.account as { id: string }).id).not.toBe('acct_default')

    const other = await controlPlaneCall(open, 'POST', '/v1/invitations', {
      email: 'ugo@example.test',
    })
    const { token } = (await other.json()) as { token: string }
    provider.user = { sub: 'sub-ugo', email: 'ugo@example.test', email_verified: true, name: 'Ugo' }
    // A yes to an unknown invitation creates no account by mistake.
    expect(await joinBy(joined, `${token}0`)).toContain('error=not_invited')
    expect(await joinBy(joined, token)).toBe('/home')
    expect(await joined.json('/v1/session', 200)).toMatchObject({ account: { id: 'acct_default' } })
  } finally {
    await open.remove()
  }
})

test('a user invited to a full account gets that reason, and the invitation stays open', async () => {
  const small = await startGatehouse({
    environment: { ...settingsFor(provider), GATEHOUSE_MAX_MEMBERS: '1' },
  })
  try {
    const tokens: string[] = []
    for (const email of ['one@example.test', 'two@example.test']) {
      const made = await controlPlaneCall(small, 'POST', '/v1/invitations', { email })
      tokens.push(((await made.json()) as { token: string }).token)
    }
    const [one, two] = [1, 2].map(() => new Browser(small.url, { origin: PUBLIC }))
    if (one === undefined || two === undefined) throw new Error('no browsers')
    provider.user = { sub: 'sub-one', email: 'one@example.test', email_verified: true, name: 'One' }
    expect(await joinBy(one, tokens[0] ?? '')).toBe('/home')
    provider.user = { sub: 'sub-two', email: 'two@example.test', email_verified: true, name: 'Two' }
    expect(await joinBy(two, tokens[1] ?? '')).toContain('error=account_full')
    expect((await two.send('/v1/session')).status).toBe(401)
    const { data } = (await one.json('/v1/invitations', 200)) as { data: { status: string }[] }
    expect(data.map(({ status }) => status).sort()).toEqual(['accepted', 'open'])
  } finally {
    await small.remove()
  }
})

test('an unverified address opens nothing', async () => {
  const token = await invite('bea@example.test')
  provider.user = { sub: 'sub-bea', email: 'bea@example.test', email_verified: false, name: 'Bea' }
  const browser = openBrowser()
  expect(await joinBy(browser, token)).toContain('error=')
  expect((await browser.send('/v1/session')).status).toBe(401)
})

describe('with sign-up open', () => {
  let open: Gatehouse
  beforeAll(async () => {
    const environment = { ...settingsFor(provider), GATEHOUSE_SIGN_UP: 'open' }
    open = await startGatehouse({ environment })
  })
  afterAll(() => open.remove())

  /** @returns the browser that is signed in now, or is not */
  async function enter(claims: object): Promise<Browser> {
    provider.user = { sub: crypto.randomUUID(), ...claims }
    const browser = new Browser(open.url, { origin: PUBLIC })
    await signIn(browser)
    return browser
  }

  const statusOf = async (browser: Browser) => (await browser.send('/v1/session')).status

  test.each([
    ['says no as text', { email_verified: 'false' }],
    ['says no beside a member of another name', { email_verified: false, emailVerified: true }],
    ['says nothing', {}],
    ['says what is neither', { email_verified: { yes: true } }],
  ])('a provider that %s vouches for no address, and holds it for nobody', async (_, said) => {
    const email = `${crypto.randomUUID()}@example.test`
    expect(await statusOf(await enter({ email, name: 'N', ...said }))).toBe(401)
    const body = { email, name: 'Owner', password }
    await new Browser(open.url, { origin: PUBLIC }).json('/v1/auth/sign-up', 201, {
      method: 'POST',
      body,
    })
  })

  test('a provider that says yes as text vouches for the address', async () => {
    const browser = await enter({ email: 'yes@example.test', name: 'Y', email_verified: 'true' })
    expect(await browser.json('/v1/session', 200)).toMatchObject({
      user: { email: 'yes@example.test' },
    })
  })

  describe('a provider that tells of a person beside the id token, too,', () => {
    const person = { email: 'bob@example.test', name: 'B', email_verified: true }
    afterEach(() => {
      provider.idTokenClaims = (user) => user
    })

    test('is believed where that is the same one', async () => {
      provider.idTokenClaims = (user) => ({ sub: (user as { sub: string }).sub })
      const browser = await enter(person)
      expect(await browser.json('/v1/session', 200)).toMatchObject({ user: { name: 'B' } })
    })

    test('is believed where the token names other readers beside this gateway', async () => {
      const { clientId } = provider
      provider.idTokenClaims = (user) => ({ ...user, aud: ['another', clientId], azp: clientId })
      const browser = await enter({ ...person, email: 'rob@example.test' })
      expect(await browser.json('/v1/session', 200)).toMatchObject({ user: { name: 'B' } })
    })

    const own = (user: object) => ({ ...user, aud: provider.clientId })
    test.each([
      ['tells of another', () => ({ sub: 'somebody-else' })],
      ['issues no such token', undefined],
      ['issued the token to another', (user: object) => ({ ...own(user), azp: 'another' })],
      [
        'issued the token to nobody of several',
        (user: object) => ({ ...user, aud: [provider.clientId, 'another'] }),
      ],
      ['issues a token without end', (user: object) => ({ ...own(user), exp: undefined })],
    ])('is not believed where it %s', async (_, idTokenClaims) => {
      provider.idTokenClaims = idTokenClaims
      const email = `${crypto.randomUUID()}@example.test`
      expect(await statusOf(await enter({ ...person, email }))).toBe(401)
    })
  })

  test.each([
    ['another alphabet’s letters', '\u212aate@example.test'],
    ['a space behind it', 'kate@example.test '],
    ['a second line', 'kate@example.test\nroot'],
    ['a character that is not seen', 'kate\u200b@example.test'],
    ['no host', 'kate'],
    ['more than an address has', `${'k'.repeat(300)}@example.test`],
    ['other than text', ['kate@example.test']],
  ])('an address with %s is no user’s', async (_, email) => {
    expect(await statusOf(await enter({ email, name: 'K', email_verified: true }))).toBe(401)
  })

  test.each([
    [
      'loses what a terminal obeys, ends a line or turns it',
      '\u001b[31mA\nB\u202eC\0',
      '[31mA B C',
    ],
    ['is cut where it is longer than names are', 'n'.repeat(100_000), 'n'.repeat(120)],
    ['is the address where nothing of it can be seen', '\u200b\u2060 \u00ad\u{e0041}', undefined],
    ['is the address where there is none', undefined, undefined],
    ['is the address where it is empty', ' \t', undefined],
    ['is the address where it is no text', { first: 'N' }, undefined],
  ])('a name %s', async (_, name, shown) => {
    const email = `${crypto.randomUUID()}@example.test`
    const browser = await enter({ email, name, email_verified: true })
    expect(await browser.json('/v1/session', 200)).toMatchObject({
      user: { email, name: shown ?? email },
    })
  })
})

test('a subject of another issuer is another user, whatever its address', async () => {
  const isOpen = { GATEHOUSE_SIGN_UP: 'open' }
  const first = await startGatehouse({ environment: { ...settingsFor(provider), ...isOpen } })
  const second = startIdentityProvider()
  try {
    const hal = { sub: 'sub-hal', email: 'hal@example.test', email_verified: true, name: 'Hal' }
    provider.user = hal
    expect(await signIn(new Browser(first.url, { origin: PUBLIC }))).toBe('/home')
    await first.stop()
    const { dataFolder, key } = first
    const environment = { ...settingsFor(second), ...isOpen }
    const moved = await startGatehouse({ dataFolder, key, environment })
    try {
      const browser = new Browser(moved.url, { origin: PUBLIC })
      second.user = hal
      expect(await signIn(browser)).toContain('error=account_not_linked')
      expect((await browser.send('/v1/session')).status).toBe(401)
      second.user = { ...hal, email: 'ida@example.test', name: 'Ida' }
      expect(await signIn(browser)).toBe('/home')
      expect(await browser.json('/v1/session', 200)).toMatchObject({
        user: { email: 'ida@example.test' },
      })
    } finally {
      await moved.remove()
    }
  } finally {
    await first.remove()
    await second.stop()
  }
})

test('a provider’s claim does not open a user with a password', async () => {
  const created = await controlPlaneCall(server, 'POST', '/v1/invitations', {
    email: 'cleo@example.test',
  })
  const { token } = (await created.json()) as { token: string }
  const body = { email: 'cleo@example.test', name: 'Cleo', password, invitation: token }
  await openBrowser().json('/v1/auth/sign-up', 201, { method: 'POST', body })
  provider.user = {
    sub: 'sub-cleo',
    email: 'cleo@example.test',
    email_verified: true,
    name: 'Cleo',
  }
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
  expect((await victim.send(seen, { headers: { origin: '' } })).headers.get('location')).toContain(
    'error',
  )
  expect(victim.cookies.has('gatehouse.session_token')).toBe(false)
  const other = openBrowser()
  expect(await signIn(other, (callback) => callback.replace(/state=.{4}/, 'state=0000'))).toContain(
    'error',
  )
  expect((await other.send('/v1/session')).status).toBe(401)
})

test('an unknown callback leads to the first page, and is a 404 without a provider', async () => {
  for (const query of [
    '',
    '?state=x&code=y',
    '?error=access_denied',
    `?state=${'x'.repeat(5000)}`,
  ]) {
    const response = await openBrowser().send(`/v1/auth/callback/oidc${query}`, {
      headers: { origin: '' },
    })
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
  'the return address is never %p',
  async (returnTo) => {
    const response = await openBrowser().send('/v1/auth/oidc', {
      method: 'POST',
      body: { returnTo },
    })
    expect(response.status).toBe(400)
  },
)

test('no token of the provider is stored, and its secret is nowhere', () => {
  const texts = readFolder(server.dataFolder).map((file) => file.text)
  for (const text of [...texts, server.output()]) {
    for (const canary of ['at-canary', 'rt-canary', provider.clientSecret])
      expect(text).not.toContain(canary)
  }
})

test('an unreachable provider is a 503 for its own sign-ins alone, and is tried again later', async () => {
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
