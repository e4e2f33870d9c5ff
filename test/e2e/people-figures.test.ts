/**
 * Figures of people in every answer of the usage API: who sees whom, by role and by the account's
 * switch. Another account's caller sees nothing in any case.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const password = 'correct horse battery staple'
const END_USER = 'customer-4711'
const PLAYGROUND = '(playground)'

type Visible = 'everyone' | 'self' | 'nobody'
const SWITCHES = ['hidden', 'owner', 'administrators'] as const
const SETTING = '/v1/account/attribution'

let server: Gatehouse
let owner: Browser
let member: Browser
let stranger: Browser
let ids: { owner: string; member: string; endUser: string }
let tokens: { ofMember: string; ofNobody: string }
/** The calls of each person, and the session of the owner's token. */
let calls: { owner: string; member: string; endUser: string; playground: string }
let session: string

const withKey = (key: string) =>
  new Browser(server.url, {
    authorization: `Bearer ${key}`,
    origin: '',
    'x-gatehouse-csrf': '',
    cookie: '',
  })
const post = (body: object) => ({ method: 'POST', body })

async function signUp(name: string, more: object, headers: Record<string, string> = {}) {
  const browser = new Browser(server.url)
  const body = { email: `${name}@example.test`, name, password, ...more }
  const { user } = await browser.json('/v1/auth/sign-up', 201, { ...post(body), headers })
  return { browser, id: (user as { id: string }).id }
}

async function call(key: string, headers: Record<string, string> = {}): Promise<string> {
  const body = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] }
  const answer = await withKey(key).send('/v1/chat/completions', { ...post(body), headers })
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
  return answer.headers.get('x-request-id') ?? ''
}

async function createToken(name: string, owner: object | null): Promise<string> {
  const body = { name, ...(owner !== null && { owner }) }
  return String((await withKey(server.key).json('/v1/access-tokens', 201, post(body))).token)
}

beforeAll(async () => {
  server = await startGatehouse({ sandbox: true, environment: { GATEHOUSE_SIGN_UP: 'open' } })
  const key = withKey(server.key)
  await key.json(SETTING, 200, { method: 'PATCH', body: { endUsers: true } })
  const first = await signUp('ann', {}, { authorization: `Bearer ${server.key}` })
  owner = first.browser
  const body = { email: 'bob@example.test' }
  const { token } = await key.json('/v1/invitations', 201, post(body))
  const second = await signUp('bob', { invitation: token })
  member = second.browser
  stranger = (await signUp('eve', {})).browser
  const ofOwner = await createToken('ann', { type: 'member', id: first.id })
  tokens = {
    ofMember: await createToken('bob', { type: 'member', id: second.id }),
    ofNobody: await createToken('ci', null),
  }
  calls = {
    owner: await call(ofOwner, { 'x-gatehouse-session': 's1' }),
    member: await call(tokens.ofMember),
    endUser: await call(server.key, { 'x-gatehouse-user': END_USER }),
    playground: '',
  }
  const chat = { gateId: 'demo', stream: false, messages: [{ role: 'user', content: 'hi' }] }
  const played = await owner.send('/v1/playground', post(chat))
  await played.arrayBuffer()
  calls = { ...calls, playground: played.headers.get('x-request-id') ?? '' }
  await setSwitch('owner')
  const rows = await pollUntil('the rows of the calls, and the name of the end user', async () => {
    const data = (await owner.json('/v1/logs', 200)).data as Record<string, string>[]
    const isNamed = data.some(({ userName }) => userName === END_USER)
    return data.length === 4 && isNamed ? data : undefined
  })
  const rowOf = (id: string) => rows.find((row) => row.id === id)
  session = rowOf(calls.owner)?.session ?? ''
  ids = { owner: first.id, member: second.id, endUser: rowOf(calls.endUser)?.user ?? '' }
  expect(ids.endUser).toMatch(/^end:[0-9a-f]{16}$/)
})
afterAll(() => server.remove())

async function setSwitch(peopleFigures: (typeof SWITCHES)[number]): Promise<void> {
  await owner.json(SETTING, 200, { method: 'PATCH', body: { peopleFigures } })
}

interface Viewer {
  readonly role: string
  readonly open: () => Browser
  readonly self: 'owner' | 'member' | undefined
  /** With the switch at `hidden`, `owner` and `administrators`. */
  readonly sees: readonly [Visible, Visible, Visible]
}

const VIEWERS: readonly Viewer[] = [
  {
    ...{ role: 'the owner', self: 'owner', open: () => owner },
    sees: ['self', 'everyone', 'everyone'],
  },
  { role: 'a member', self: 'member', open: () => member, sees: ['self', 'self', 'self'] },
  {
    ...{ role: 'an API key', self: undefined, open: () => withKey(server.key) },
    sees: ['nobody', 'nobody', 'everyone'],
  },
]
const TOKENS: readonly Viewer[] = [
  {
    ...{ role: 'the token of a member', self: 'member', open: () => withKey(tokens.ofMember) },
    sees: ['self', 'self', 'self'],
  },
  {
    ...{ role: 'the token of nobody', self: undefined, open: () => withKey(tokens.ofNobody) },
    sees: ['nobody', 'nobody', 'nobody'],
  },
]

const CASES = SWITCHES.flatMap((name, index) =>
  [...VIEWERS, ...TOKENS].map((viewer) => ({ name, viewer, sees: viewer.sees[index] ?? 'nobody' })),
)

function shownTo({ viewer, sees }: (typeof CASES)[number]): readonly string[] {
  if (sees === 'everyone') return Object.values(ids).sort()
  return sees === 'nobody' || viewer.self === undefined ? [] : [ids[viewer.self]]
}

const distinct = (values: readonly unknown[]) =>
  [...new Set(values.filter((value) => typeof value === 'string'))].sort()
const RANGE = 'interval=all'

describe.each(CASES)('$name, $viewer.role', (each) => {
  const { name, viewer, sees } = each
  const isToken = TOKENS.includes(viewer)
  let shown: readonly string[]
  let caller: Browser
  beforeAll(async () => {
    await setSwitch(name)
    shown = shownTo(each)
    caller = viewer.open()
  })
  const list = async (path: string) =>
    (await caller.json(path, 200)).data as Record<string, string | null>[]
  const statusOf = async (path: string) => {
    const answer = await caller.send(path)
    const text = await answer.text()
    if (answer.status === 403 && !isToken) expect(text).toMatch(/peopleFigures/)
    return answer.status
  }

  test('GET /v1/analytics', async () => {
    const path = `/v1/analytics?${RANGE}`
    if (sees === 'nobody') expect(await statusOf(`${path}&group_by=user`)).toBe(403)
    else {
      const { data, onlyUser } = await caller.json(`${path}&group_by=user`, 200)
      expect(distinct((data as { group: unknown }[]).map(({ group }) => group))).toEqual([...shown])
      expect(onlyUser).toBe(sees === 'everyone' ? null : shown[0])
    }
    const byPair = `${path}&group_by=gate&then_by=user`
    if (sees === 'nobody') expect(await statusOf(byPair)).toBe(403)
    else expect(distinct((await list(byPair)).map((sum) => sum.thenGroup))).toEqual([...shown])
    for (const user of Object.values(ids))
      expect([user, await statusOf(`${path}&user=${user}`)]).toEqual([
        user,
        shown.includes(user) ? 200 : 403,
      ])
    expect(await statusOf(`${path}&user=end:${END_USER}`)).toBe(sees === 'everyone' ? 200 : 403)
    expect(await statusOf(`${path}&user=ann@example.test`)).toBe(
      shown.includes(ids.owner) ? 200 : 403,
    )
    const byKey = (await list(`${path}&group_by=key`)).map(({ group }) => group)
    if (isToken) return
    expect(byKey.includes(ids.owner)).toBe(shown.includes(ids.owner))
    expect(byKey.includes(PLAYGROUND)).toBe(!shown.includes(ids.owner))
    const pairs = await list(`${path}&group_by=gate&then_by=key`)
    expect(distinct(pairs.map((sum) => sum.thenGroup))).toEqual(distinct(byKey))
    for (const place of ['/v1/analytics', '/v1/analytics/latency', '/v1/analytics/refused'])
      expect(await statusOf(`${place}?${RANGE}&key=${ids.owner}`)).toBe(
        shown.includes(ids.owner) ? 200 : 403,
      )
  })

  if (isToken) {
    test.each([
      '/v1/logs',
      '/v1/logs/export?format=csv',
      '/v1/usage/sessions',
      '/v1/usage/export?format=focus',
    ])('GET %s is refused', async (path) => {
      expect((await caller.send(path)).status).toBe(403)
    })
    return
  }

  test('GET /v1/logs', async () => {
    const rows = await list('/v1/logs')
    expect(rows).toHaveLength(4)
    expect(distinct(rows.map(({ user }) => user))).toEqual([...shown])
    expect(distinct(rows.map(({ userName }) => userName))).toHaveLength(shown.length)
    const { keyId } = rows.find(({ id }) => id === calls.playground) ?? {}
    expect(keyId).toBe(shown.includes(ids.owner) ? ids.owner : PLAYGROUND)
    for (const user of Object.values(ids))
      expect(await statusOf(`/v1/logs?user=${user}`)).toBe(shown.includes(user) ? 200 : 403)
    expect(await statusOf(`/v1/logs?key=${ids.owner}`)).toBe(shown.includes(ids.owner) ? 200 : 403)
  })

  test('GET /v1/logs/{id}', async () => {
    for (const who of ['owner', 'member', 'endUser'] as const) {
      const { user, userName } = await caller.json(`/v1/logs/${calls[who]}`, 200)
      const isShown = shown.includes(ids[who])
      expect([who, user, userName !== null]).toEqual([who, isShown ? ids[who] : null, isShown])
    }
  })

  test('GET /v1/logs/export', async () => {
    const csv = await (await caller.send('/v1/logs/export?format=csv')).text()
    const [head = '', ...lines] = csv.trimEnd().split('\r\n')
    expect(lines).toHaveLength(4)
    const columns = head.split(',')
    expect(columns.includes('user')).toBe(sees === 'everyone')
    expect(columns.includes('userName')).toBe(sees === 'everyone')
    const text = await (await caller.send('/v1/logs/export?format=ndjson')).text()
    const rows = text.trimEnd().split('\n')
    expect(rows).toHaveLength(4)
    for (const row of rows) expect('user' in JSON.parse(row)).toBe(sees === 'everyone')
    for (const file of [csv, text]) {
      expect(file.includes(ids.endUser)).toBe(sees === 'everyone')
      expect(file.includes(END_USER)).toBe(sees === 'everyone')
      // The playground's calls have the member's id in the key's place.
      expect(file.includes(ids.owner)).toBe(shown.includes(ids.owner))
    }
    const filtered = `/v1/logs/export?format=csv&user=${ids.endUser}`
    expect(await statusOf(filtered)).toBe(sees === 'everyone' ? 200 : 403)
  })

  test('GET /v1/usage/sessions', async () => {
    const isShown = shown.includes(ids.owner)
    const rows = await list('/v1/usage/sessions')
    expect(rows.map(({ id, user }) => [id, user])).toEqual([[session, isShown ? ids.owner : null]])
    expect(await statusOf(`/v1/usage/sessions?user=${ids.owner}`)).toBe(isShown ? 200 : 403)
    const details = await caller.json(`/v1/usage/sessions/${session}`, 200)
    expect([details.user, details.userName !== null]).toEqual([isShown ? ids.owner : null, isShown])
    expect((details.data as { user: unknown }[]).map(({ user }) => user)).toEqual([
      isShown ? ids.owner : null,
    ])
  })

  test('GET /v1/usage/export names no person', async () => {
    const text = await (await caller.send('/v1/usage/export?format=focus')).text()
    expect(text.split('\n').length).toBeGreaterThan(2)
    for (const word of [...Object.values(ids), END_USER, 'bob', 'ann'])
      expect(text.includes(word)).toBe(false)
  })
})

test('another account sees nothing of these people, whatever the switches say', async () => {
  await setSwitch('administrators')
  await stranger.json(SETTING, 200, { method: 'PATCH', body: { peopleFigures: 'administrators' } })
  const data = async (path: string) => (await stranger.json(path, 200)).data
  expect(await data(`/v1/analytics?${RANGE}&group_by=user`)).toEqual([])
  expect(await data('/v1/usage/sessions')).toEqual([])
  for (const user of Object.values(ids)) {
    expect(await data(`/v1/logs?user=${user}`)).toEqual([])
    expect(await data(`/v1/analytics?${RANGE}&user=${user}`)).toEqual([])
  }
  for (const id of Object.values(calls))
    expect((await stranger.send(`/v1/logs/${id}`)).status).toBe(404)
  expect((await stranger.send(`/v1/logs?user=ann@example.test`)).status).toBe(400)
})

test('only the signed-in owner changes the switch, and an API key where there is no member', async () => {
  await setSwitch('hidden')
  const change = { method: 'PATCH', body: { peopleFigures: 'administrators' } }
  for (const caller of [member, withKey(server.key)]) {
    const refused = await caller.send(SETTING, change)
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('Only the signed-in owner'),
    ])
    // The other switches, and the value that it has, are no change of it.
    await caller.json(SETTING, 200, {
      method: 'PATCH',
      body: { endUsers: true, peopleFigures: 'hidden' },
    })
  }
  const other = await startGatehouse({ sandbox: true })
  try {
    const key = new Browser(other.url, { authorization: `Bearer ${other.key}` })
    expect(await key.json(SETTING, 200, change)).toMatchObject(change.body)
  } finally {
    await other.remove()
  }
})
