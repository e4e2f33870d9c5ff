/** Users over real HTTP: from the first one to sign up to a session that was revoked. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
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

describe('the first user', () => {
  test('needs a key, becomes the owner of the first account, and is the only one', async () => {
    const browser = openBrowser()
    expect(await browser.json('/v1/auth', 200)).toEqual({
      signUp: 'invitation',
      oidc: false,
      hasOwner: false,
    })
    expect((await signUp(browser, 'owner@example.test', {})).status).toBe(403)
    const stranger = { authorization: `Bearer sk-svc-${'0'.repeat(64)}` }
    expect((await signUp(browser, 'owner@example.test', {}, stranger)).status).toBe(401)

    const bearer = { authorization: `Bearer ${server.key}` }
    const created = await signUp(browser, 'Owner@Example.test', {}, bearer)
    expect(created.status).toBe(201)
    expect(await created.json()).toMatchObject({
      account: { id: 'acct_default' },
      user: { email: 'owner@example.test', name: 'Somebody' },
      role: 'owner',
    })
    expect(await browser.json('/v1/session', 200)).toMatchObject({ role: 'owner', keyId: null })
    expect(await openBrowser().json('/v1/auth', 200)).toMatchObject({ hasOwner: true })
    expect((await signUp(openBrowser(), 'second@example.test', {}, bearer)).status).toBe(403)

    const [cookie = ''] = browser.received
    expect(cookie).toMatch(/^gatehouse\.session_token=/)
    expect(cookie).toContain('HttpOnly')
    expect(cookie).toContain('SameSite=Lax')
    expect(cookie).not.toContain('Secure')
  })

  test('sees the resources of the first key, and the key goes on', async () => {
    const browser = openBrowser()
    expect((await signIn(browser, 'owner@example.test')).status).toBe(200)
    const { data } = await browser.json('/v1/gates', 200)
    expect(data).toEqual([expect.objectContaining({ id: 'demo' })])
    expect((await controlPlaneCall(server, 'GET', '/v1/gates')).status).toBe(200)
    expect(await (await controlPlaneCall(server, 'GET', '/v1/session')).json()).toMatchObject({
      user: null,
      role: null,
      keyId: expect.stringMatching(/^key_/),
    })
  })
})

describe('signing in', () => {
  test('answers and throttles a wrong password and an unknown address alike, and locks no other user out', async () => {
    const careful = await joinBy('careful@example.test')
    const answers: Record<string, unknown[]> = {}
    const first = openBrowser()
    for (const [email, browser] of [
      ['careful@example.test', first],
      ['nobody@example.test', openBrowser()],
    ] as const) {
      const seen: unknown[] = []
      for (let count = 0; count < 11; count += 1) {
        const response = await signIn(browser, email, 'not the password at all')
        const body = (await response.json()) as { error: string; message: string }
        seen.push([response.status, body.error, body.message.replace(/\d+/, 'N')])
        if (response.status === 429)
          expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(response.headers.getSetCookie()).toEqual([])
      }
      answers[email] = seen
    }
    const [known = [], unknown = []] = Object.values(answers)
    expect(known).toEqual(unknown)
    expect(known[0]).toEqual([401, 'unauthorized', 'The email address or the password is wrong.'])
    expect(known[9]).toEqual(known[0])
    expect(known[10]).toEqual([429, 'rate_limit_exceeded', expect.any(String)])

    // However many they are: another place guesses too.
    const email = 'careful@example.test'
    const guesser = openBrowser()
    for (let count = 0; count < 11; count += 1)
      await signIn(guesser, email, 'not the password at all')
    // Not with the right one either.
    for (const place of [first, guesser]) {
      // The wait at a place is half a minute at first, which may be over: a wrong try more begins a
      // longer one.
      while ((await signIn(place, email, 'not the password at all')).status !== 429);
      expect((await signIn(place, email)).status).toBe(429)
    }
    // From a new place, and from one where they have signed up.
    expect((await signIn(openBrowser(), email)).status).toBe(200)
    expect((await signIn(careful, email)).status).toBe(200)
  })

  test('throttles one network address over all users and invitations, and lets known users in', async () => {
    const email = 'office@example.test'
    const office = await joinBy(email)
    const statuses: number[] = []
    for (let count = 0; count < 51; count += 1) {
      const name = `guessed-${count}@example.test`
      // A password costs a processor's time, an invitation that nobody wrote does not.
      const guessed =
        count % 25 === 0
          ? await signIn(office, name, 'not the password at all')
          : await signUp(office, name, { invitation: 'made-up'.repeat(6) })
      statuses.push(guessed.status)
    }
    expect(new Set(statuses.slice(0, 49))).toEqual(new Set([401, 403]))
    // Signing up was the first of fifty.
    expect(statuses.indexOf(429)).toBe(49)
    expect((await signIn(office, 'newcomer@example.test')).status).toBe(429)
    expect((await signIn(office, email)).status).toBe(200)
  })

  test.each([
    ['no email', { password }],
    ['an invalid email', { email: 'x', password }],
    ['a field that is not known', { email: 'a@example.test', password, accountId: 'acct_default' }],
    ['a password that is a number', { email: 'a@example.test', password: 1 }],
  ])('refuses %s', async (_name, body) => {
    const response = await openBrowser().send('/v1/auth/sign-in', { method: 'POST', body })
    expect(response.status).toBe(400)
  })

  test.each(['short', 'aaaaaaaaaaaaaaaa', 'weak.person@example.test', '123456789012'])(
    'does not accept %s as a password',
    async (weak) => {
      const email = 'weak.person@example.test'
      const invitation = await invite(email)
      const response = await signUp(openBrowser(), email, { invitation, password: weak })
      expect(response.status).toBe(400)
      const text = await response.text()
      expect(text).toContain('password:')
    },
  )
})

describe('requests of other sites', () => {
  const attempts: readonly (readonly [string, Record<string, string>])[] = [
    ['without an origin', { origin: '' }],
    ['from another origin', { origin: 'https://evil.test' }],
    ['from a sandboxed frame', { origin: 'null' }],
    ['without the header', { 'x-gatehouse-csrf': '' }],
    ['as a form', { 'x-gatehouse-csrf': '', 'content-type': 'application/x-www-form-urlencoded' }],
  ]

  let browser: Browser
  beforeAll(async () => {
    browser = await joinBy('csrf@example.test')
  })

  test.each(attempts)('%s change nothing', async (_name, headers) => {
    const calls: readonly (readonly [string, string, object?])[] = [
      ['POST', '/v1/gates', { id: 'forged', targets: [{ model: 'sandbox/echo' }] }],
      ['POST', '/v1/keys', { name: 'forged' }],
      ['DELETE', '/v1/gates/demo'],
      ['PATCH', '/v1/account', { name: 'forged' }],
      ['POST', '/v1/invitations', { email: 'evil@example.test' }],
      ['DELETE', '/v1/session'],
      ['POST', '/v1/auth/sign-in', { email: 'owner@example.test', password }],
    ]
    for (const [method, path, body] of calls) {
      const response = await browser.send(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      expect({ method, path, status: response.status }).toEqual({ method, path, status: 403 })
    }
    const gates = (await browser.json('/v1/gates', 200)) as { data: { id: string }[] }
    expect(gates.data.map(({ id }) => id)).toEqual(['demo'])
    expect(await browser.json('/v1/account', 200)).toMatchObject({ name: 'Default account' })
  })

  test('with a key need neither header, even beside a cookie', async () => {
    const browser = await joinBy('both@example.test')
    const headers = { authorization: `Bearer ${server.key}`, origin: '', 'x-gatehouse-csrf': '' }
    await browser.json('/v1/account', 200, { method: 'PATCH', body: {}, headers })
  })
})

describe('invitations', () => {
  test('work once, for the invited address only, and are listed without their token', async () => {
    const invitation = await invite('Guest@example.test')
    const second = await invite('guest@example.test')
    expect((await signUp(openBrowser(), 'other@example.test', { invitation })).status).toBe(403)
    const guest = openBrowser()
    expect((await signUp(guest, 'guest@example.test', { invitation })).status).toBe(201)
    expect(await guest.json('/v1/session', 200)).toMatchObject({
      account: { id: 'acct_default' },
      role: 'member',
    })
    expect((await signUp(openBrowser(), 'guest@example.test', { invitation })).status).toBe(403)
    const again = await signUp(openBrowser(), 'guest@example.test', { invitation: second })
    expect(again.status).toBe(409)
    expect((await signUp(openBrowser(), 'guest2@example.test', { invitation })).status).toBe(403)

    const listed = await guest.json('/v1/invitations', 200)
    expect(JSON.stringify(listed)).not.toContain(invitation)
    const rows = listed.data as { id: string; status: string; email: string }[]
    const used = rows.find((row) => row.email === 'guest@example.test' && row.status === 'accepted')
    expect(await guest.json(`/v1/invitations/${used?.id}`, 200)).toMatchObject({
      status: 'accepted',
    })
  })

  test('show their account and inviter to a holder of the token alone', async () => {
    const ask = (invitation: string, headers: Record<string, string> = {}) =>
      openBrowser().send('/v1/auth/invitation', { method: 'POST', body: { invitation }, headers })
    const inviter = await joinBy('inviter@example.test')
    const { token } = (await inviter.json('/v1/invitations', 201, {
      method: 'POST',
      body: { email: 'asked@example.test' },
    })) as { token: string }
    const offer = await ask(token)
    expect(offer.status).toBe(200)
    expect(await offer.json()).toEqual({
      accountName: 'Default account',
      invitedBy: 'Somebody (inviter@example.test)',
      email: 'asked@example.test',
      expiresAt: expect.any(String),
    })
    const byKey = await ask(await invite('by-key@example.test'))
    expect(await byKey.json()).toMatchObject({ invitedBy: 'the API key "first key"' })
    for (const wrong of [`${token} `, token.slice(1), 'asked@example.test'])
      expect((await ask(wrong)).status).toBe(404)
    expect((await ask('')).status).toBe(400)
    expect((await ask(token, { origin: 'https://evil.test' })).status).toBe(403)
    expect((await signUp(openBrowser(), 'asked@example.test', { invitation: token })).status).toBe(
      201,
    )
    expect((await ask(token)).status).toBe(404)
  })

  test('can be withdrawn', async () => {
    const created = await controlPlaneCall(server, 'POST', '/v1/invitations', {
      email: 'gone@example.test',
    })
    const { id, token, link } = (await created.json()) as {
      id: string
      token: string
      link: string
    }
    expect(link).toBe(`${server.url}/dashboard/sign-up#invitation=${token}`)
    expect((await controlPlaneCall(server, 'DELETE', `/v1/invitations/${id}`)).status).toBe(204)
    expect((await controlPlaneCall(server, 'DELETE', `/v1/invitations/${id}`)).status).toBe(404)
    expect((await signUp(openBrowser(), 'gone@example.test', { invitation: token })).status).toBe(
      403,
    )
  })

  test('are not withdrawn once somebody has accepted: the member stays, and is named', async () => {
    const email = 'quick@example.test'
    const created = await controlPlaneCall(server, 'POST', '/v1/invitations', { email })
    const { id, token } = (await created.json()) as { id: string; token: string }
    expect((await signUp(openBrowser(), email, { invitation: token })).status).toBe(201)
    const refused = await controlPlaneCall(server, 'DELETE', `/v1/invitations/${id}`)
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain(`The invitation of ${email} was accepted`)
    const shown = await controlPlaneCall(server, 'GET', `/v1/invitations/${id}`)
    expect(await shown.json()).toMatchObject({ status: 'accepted' })
  })

  test('used from many places at once create one user', async () => {
    const invitation = await invite('race@example.test')
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => signUp(openBrowser(), 'race@example.test', { invitation })),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(201)
    for (const status of statuses.slice(1)) expect([403, 409]).toContain(status)
  })
})

describe('members', () => {
  test('are not invited again, in any spelling of the address', async () => {
    await joinBy('member-twice@example.com')
    const email = 'Member-Twice@example.com'
    const again = await controlPlaneCall(server, 'POST', '/v1/invitations', { email })
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({
      message: expect.stringContaining("'member-twice@example.com' is a member already"),
    })
  })

  const idOf = async (browser: Browser): Promise<string> => {
    const { user } = (await browser.json('/v1/session', 200)) as { user: { id: string } }
    return user.id
  }

  test('are removed by the owner alone, at once', async () => {
    const member = await joinBy('member@example.test')
    const colleague = await joinBy('colleague@example.test')
    const id = await idOf(member)
    expect((await colleague.send(`/v1/members/${id}`, { method: 'DELETE' })).status).toBe(403)
    expect((await controlPlaneCall(server, 'DELETE', `/v1/members/${id}`)).status).toBe(403)
    const { token } = (await member.json('/v1/invitations', 201, {
      method: 'POST',
      body: { email: 'back-door@example.test' },
    })) as { token: string }
    const owner = openBrowser()
    await signIn(owner, 'owner@example.test')
    expect((await owner.send(`/v1/members/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await owner.send(`/v1/members/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect(
      (await owner.send(`/v1/members/${await idOf(owner)}`, { method: 'DELETE' })).status,
    ).toBe(409)
    expect((await member.send('/v1/session')).status).toBe(401)
    expect((await signIn(openBrowser(), 'member@example.test')).status).toBe(401)
    expect(
      (await signUp(openBrowser(), 'back-door@example.test', { invitation: token })).status,
    ).toBe(403)
    await joinBy('member@example.test')
  })

  test('leave by themselves, and the owner only after a transfer', async () => {
    const member = await joinBy('leaver@example.test')
    const id = await idOf(member)
    expect((await member.send(`/v1/members/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await member.send('/v1/session')).status).toBe(401)
    const owner = openBrowser()
    await signIn(owner, 'owner@example.test')
    const { data } = (await owner.json('/v1/members', 200)) as { data: { id: string }[] }
    expect(data.map((each) => each.id)).not.toContain(id)
    expect(
      (await owner.send(`/v1/members/${await idOf(owner)}`, { method: 'DELETE' })).status,
    ).toBe(409)
  })

  test('become the owner by a transfer', async () => {
    const owner = openBrowser()
    await signIn(owner, 'owner@example.test')
    const heir = await joinBy('heir@example.test')
    const id = await idOf(heir)
    const handOn = (browser: Browser, to: string) =>
      browser.send(`/v1/members/${to}`, { method: 'PATCH', body: { role: 'owner' } })
    expect((await handOn(heir, id)).status).toBe(403)
    expect((await handOn(owner, id)).status).toBe(200)
    expect(await heir.json('/v1/session', 200)).toMatchObject({ role: 'owner' })
    expect(await owner.json('/v1/session', 200)).toMatchObject({ role: 'member' })
    expect((await handOn(heir, await idOf(owner))).status).toBe(200)
  })
})

describe('other ways to sign up', () => {
  test('open: each user gets a separate account, and none gets the first one', async () => {
    const open = await startGatehouse({
      environment: { ...environment, GATEHOUSE_SIGN_UP: 'open' },
    })
    try {
      const browser = new Browser(open.url)
      const body = { email: 'new@example.test', name: 'New', password }
      const session = await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body })
      expect(session).toMatchObject({ role: 'owner', account: { name: 'new@example.test' } })
      expect((session.account as { id: string }).id).not.toBe('acct_default')
      expect(await browser.json('/v1/auth', 200)).toMatchObject({ hasOwner: false })
      // Without a proxy it is the connection that tells where somebody comes from.
      expect(await browser.json('/v1/sessions', 200)).toMatchObject({
        data: [{ address: '127.0.0.1' }],
      })

      await createGate(open, 'theirs', 'sandbox/echo')
      expect(await browser.json('/v1/gates', 200)).toMatchObject({ data: [] })
      const { key } = (await browser.json('/v1/keys', 201, {
        method: 'POST',
        body: { name: 'mine' },
      })) as {
        key: string
      }
      const mine = { url: open.url, key }
      expect((await controlPlaneCall(mine, 'GET', '/v1/gates/theirs')).status).toBe(404)
      expect((await controlPlaneCall(mine, 'GET', '/v1/session')).status).toBe(200)
      const call = await controlPlaneCall(mine, 'POST', '/v1/responses', {
        model: 'theirs',
        input: 'x',
      })
      expect(call.status).toBe(404)
    } finally {
      await open.remove()
    }
  })

  test('closed: only the first user can sign up, with any invitation', async () => {
    const closed = await startGatehouse({ environment: { GATEHOUSE_SIGN_UP: 'closed' } })
    try {
      const browser = new Browser(closed.url)
      const body = { email: 'new@example.test', name: 'New', password }
      expect((await browser.send('/v1/auth/sign-up', { method: 'POST', body })).status).toBe(403)
      const headers = { authorization: `Bearer ${closed.key}` }
      await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
      const invitation = await browser.send('/v1/invitations', {
        method: 'POST',
        body: { email: 'x@example.test' },
      })
      expect(invitation.status).toBe(403)
    } finally {
      await closed.remove()
    }
  })

  test('the cookie is Secure behind https, and only the public address is an own origin', async () => {
    const origin = 'https://gatehouse.example'
    const proxied = await startGatehouse({ environment: { GATEHOUSE_PUBLIC_URL: `${origin}/` } })
    try {
      const browser = new Browser(proxied.url)
      const body = { email: 'owner@example.test', name: 'Owner', password }
      const headers = { authorization: `Bearer ${proxied.key}` }
      expect(
        (await browser.send('/v1/auth/sign-up', { method: 'POST', body, headers })).status,
      ).toBe(403)
      const call = { method: 'POST', body, headers: { ...headers, origin } }
      await browser.json('/v1/auth/sign-up', 201, call)
      expect(browser.received[0]).toMatch(/^__Host-gatehouse\.session_token=/)
      expect(browser.received[0]).toContain('Secure')
      expect((await browser.send('/v1/session')).status).toBe(200)
    } finally {
      await proxied.remove()
    }
  })
})
