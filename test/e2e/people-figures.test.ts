/**
 * Figures of people in every answer of the usage API: who sees whom, by role and by the account's
 * switch. Another account's caller sees nothing in any case.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { pollUntil } from '../support/poll-until.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

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
let calls: Record<'owner' | 'member' | 'endUser' | 'playground' | 'refused', string>
let session: string
/** The ids of budgets in tokens: of each person, and of `each-user`. */
let budgets: { owner: string; member: string; endUser: string; each: string }
/** A key whose calls count for the member. */
let keyOfMember: string
let receiver: WebhookReceiver

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

async function call(key: string, headers: Record<string, string> = {}, status = 200) {
  const body = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] }
  const answer = await withKey(key).send('/v1/chat/completions', { ...post(body), headers })
  expect(answer.status).toBe(status)
  await answer.arrayBuffer()
  return answer.headers.get('x-request-id') ?? ''
}

const ALL_TIME = { period: 'total', alertAt: [1] }

async function createBudget(body: object): Promise<string> {
  const budget = { limitTokens: 1_000_000, ...ALL_TIME, ...body }
  return String((await withKey(server.key).json('/v1/budgets', 201, post(budget))).id)
}

async function createToken(name: string, owner: object | null): Promise<string> {
  const body = { name, ...(owner !== null && { owner }) }
  return String((await withKey(server.key).json('/v1/access-tokens', 201, post(body))).token)
}

beforeAll(async () => {
  receiver = startWebhookReceiver('planted-webhook-secret-people')
  server = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_SIGN_UP: 'open', GATEHOUSE_TRUSTED_HOSTS: receiver.host },
  })
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
  const ofMember = { name: 'bob', user: second.id }
  keyOfMember = String((await key.json('/v1/keys', 201, post(ofMember))).key)
  budgets = {
    owner: await createBudget({ member: first.id }),
    member: await createBudget({ member: second.id }),
    endUser: await createBudget({ endUser: END_USER, limitTokens: 1 }),
    each: await createBudget({ scope: 'each-user' }),
  }
  await createBudget({ member: second.id, limitTokens: undefined, limitUsd: 1 })
  calls = {
    owner: await call(ofOwner, { 'x-gatehouse-session': 's1' }),
    member: await call(tokens.ofMember),
    endUser: await call(server.key, { 'x-gatehouse-user': END_USER }),
    ...{ playground: '', refused: '' },
  }
  calls.refused = await call(server.key, { 'x-gatehouse-user': END_USER }, 429)
  const chat = { gateId: 'demo', stream: false, messages: [{ role: 'user', content: 'hi' }] }
  const played = await owner.send('/v1/playground', post(chat))
  await played.arrayBuffer()
  calls = { ...calls, playground: played.headers.get('x-request-id') ?? '' }
  await setSwitch('owner')
  const rows = await pollUntil('the rows of the calls, and the name of the end user', async () => {
    const data = (await owner.json('/v1/logs', 200)).data as Record<string, string>[]
    const isNamed = data.some(({ userName }) => userName === END_USER)
    return data.length === 5 && isNamed ? data : undefined
  })
  const rowOf = (id: string) => rows.find((row) => row.id === id)
  session = rowOf(calls.owner)?.session ?? ''
  ids = { owner: first.id, member: second.id, endUser: rowOf(calls.endUser)?.user ?? '' }
  expect(ids.endUser).toMatch(/^end:[0-9a-f]{16}$/)
})
afterAll(async () => {
  await server.remove()
  await receiver.stop()
})

async function setSwitch(peopleFigures: (typeof SWITCHES)[number]): Promise<void> {
  await owner.json(SETTING, 200, { method: 'PATCH', body: { peopleFigures } })
}

interface Viewer {
  readonly role: string
  readonly open: () => Browser
  readonly self: 'owner' | 'member' | undefined
  /** Signed in, so that the caller has no key. */
  readonly isUser?: true
  /** With the switch at `hidden`, `owner` and `administrators`. */
  readonly sees: readonly [Visible, Visible, Visible]
}

const VIEWERS: readonly Viewer[] = [
  {
    ...{ role: 'the owner', self: 'owner', open: () => owner, isUser: true },
    sees: ['self', 'everyone', 'everyone'],
  },
  {
    ...{ role: 'a member', self: 'member', open: () => member, isUser: true },
    sees: ['self', 'self', 'self'],
  },
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

  test('GET /api/oauth/usage', async () => {
    const { limits } = await caller.json('/api/oauth/usage', viewer.isUser ? 401 : 200)
    if (viewer.isUser) return
    const isOfMember = viewer.self === 'member'
    expect(limits).toHaveLength(isOfMember ? 1 : 0)
    const ofKey = await withKey(keyOfMember).json('/api/oauth/usage', 200)
    expect(ofKey.limits).toHaveLength(name === 'administrators' ? 1 : 0)
  })

  if (isToken) {
    test.each([
      '/v1/budgets',
      '/v1/logs',
      '/v1/logs/export?format=csv',
      '/v1/usage/sessions',
      '/v1/usage/export?format=focus',
    ])('GET %s is refused', async (path) => {
      expect((await caller.send(path)).status).toBe(403)
    })
    return
  }

  test('GET /v1/budgets', async () => {
    const rows = (await list('/v1/budgets')) as unknown as Record<string, unknown>[]
    const ofUsers = rows.filter(({ scope, limitUsd }) => scope === 'user' && limitUsd === null)
    expect(ofUsers).toHaveLength(3)
    for (const who of ['owner', 'member', 'endUser'] as const) {
      const listed = ofUsers.find(({ id }) => id === budgets[who])
      const single = await caller.json(`/v1/budgets/${budgets[who]}`, 200)
      for (const budget of [listed, single]) {
        const { used, reserved, isExhausted } = budget ?? {}
        const isUsed = ((used as { tokens: number } | null)?.tokens ?? 0) > 0
        expect([who, isUsed, reserved, isExhausted]).toEqual(
          shown.includes(ids[who])
            ? [who, true, { tokens: 0, usd: 0 }, who === 'endUser']
            : [who, false, null, null],
        )
      }
    }
  })

  test('GET /v1/budgets/{id}/heads', async () => {
    const path = `/v1/budgets/${budgets.each}/heads`
    if (sees === 'nobody') expect(await statusOf(path)).toBe(403)
    else expect(distinct((await list(path)).map(({ id }) => id))).toEqual([...shown])
    expect(await list(`/v1/budgets/${budgets.endUser}/heads`)).toEqual([])
  })

  test('POST /v1/budgets/simulate', async () => {
    const from = new Date(Date.now() - 3_600_000).toISOString()
    const limit = { limitTokens: 1, period: 'total', from }
    const simulate = async (scope: object) =>
      await caller.send('/v1/budgets/simulate', post({ ...limit, ...scope }))
    for (const who of ['owner', 'member'] as const)
      expect([who, (await simulate({ member: ids[who] })).status]).toEqual([
        who,
        shown.includes(ids[who]) ? 200 : 403,
      ])
    const ofEndUser = await simulate({ endUser: END_USER })
    expect(ofEndUser.status).toBe(sees === 'everyone' ? 200 : 403)
    const answer = (await (await simulate({ scope: 'each-user' })).json()) as {
      heads: readonly { id: string }[]
    }
    for (const { id } of answer.heads) expect(shown).toContain(id)
  })

  test('POST, PATCH and DELETE /v1/budgets limit others with the right to, and show no use', async () => {
    const limit = { limitTokens: 5_000_000, period: 'total' }
    const mayLimitOthers = viewer.role !== 'a member'
    for (const [who, scope] of [
      ['owner', { member: ids.owner }],
      ['member', { member: ids.member }],
      ['endUser', { endUser: END_USER }],
      ['each', { scope: 'each-user' }],
    ] as const) {
      const may = mayLimitOthers || who === viewer.self
      const isShown = who !== 'each' && shown.includes(ids[who])
      const created = await caller.send('/v1/budgets', post({ ...limit, ...scope }))
      expect([who, created.status]).toEqual([who, may ? 201 : 403])
      const path = `/v1/budgets/${budgets[who]}`
      const change = { method: 'PATCH', body: { name: `${viewer.role} changed it` } }
      const changed = await caller.send(path, change)
      expect([who, changed.status]).toEqual([who, may ? 200 : 403])
      if (!may) {
        expect(await changed.text()).toContain('Only the signed-in owner')
        expect((await caller.send(path, { method: 'DELETE' })).status).toBe(403)
        continue
      }
      const { used } = (await changed.json()) as { used: unknown }
      expect([who, used !== null]).toEqual([who, isShown])
      const { id, used: usedOfNew } = (await created.json()) as { id: string; used: unknown }
      expect([who, usedOfNew !== null]).toEqual([who, isShown])
      expect((await caller.send(`/v1/budgets/${id}`, { method: 'DELETE' })).status).toBe(204)
    }
  })

  test('refusals in GET /v1/logs name no budget of a hidden person', async () => {
    const isShown = shown.includes(ids.endUser)
    const rows = [
      (await list('/v1/logs')).find(({ id }) => id === calls.refused),
      await caller.json(`/v1/logs/${calls.refused}`, 200),
    ]
    for (const row of rows)
      expect([row?.status, row?.refusedBy]).toEqual([429, isShown ? budgets.endUser : '(budget)'])
    for (const format of ['csv', 'ndjson']) {
      const text = await (await caller.send(`/v1/logs/export?format=${format}`)).text()
      expect(text.includes(budgets.endUser)).toBe(isShown)
    }
  })

  test('GET /v1/logs', async () => {
    const rows = await list('/v1/logs')
    expect(rows).toHaveLength(5)
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
    expect(lines).toHaveLength(5)
    const columns = head.split(',')
    expect(columns.includes('user')).toBe(sees === 'everyone')
    expect(columns.includes('userName')).toBe(sees === 'everyone')
    const text = await (await caller.send('/v1/logs/export?format=ndjson')).text()
    const rows = text.trimEnd().split('\n')
    expect(rows).toHaveLength(5)
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

test('webhooks get events of a person’s budget only while API keys see people', async () => {
  const hook = { url: receiver.url, secret: 'planted-webhook-secret-people' }
  const events = ['budget.threshold', 'budget.exhausted']
  await withKey(server.key).json('/v1/webhooks', 201, post({ ...hook, events }))
  const limit = { limitTokens: 1, alertAt: [1] }
  const persons: string[] = []
  const heard = () => receiver.deliveries.map(({ event }) => event.data.budgetId)
  for (const name of SWITCHES) {
    await setSwitch(name)
    const ofPerson = await createBudget({ ...limit, endUser: 'eve' })
    const ofAccount = await createBudget({ ...limit, scope: 'account' })
    await call(server.key, { 'x-gatehouse-user': 'eve' })
    const expected = name === 'administrators' ? [ofAccount, ofPerson] : [ofAccount]
    await pollUntil('the events', async () => expected.every((id) => heard().includes(id)))
    for (const id of [ofPerson, ofAccount])
      await withKey(server.key).send(`/v1/budgets/${id}`, { method: 'DELETE' })
    persons.push(ofPerson)
  }
  expect(heard().filter((id) => persons.includes(String(id)))).toEqual(persons.slice(-1))
})

test('an administrator caps a person without seeing figures, and the person sees them', async () => {
  await setSwitch('hidden')
  const limit = { limitUsd: 1, period: 'month', unpriced: 'estimate' }
  const usd = await owner.json('/v1/budgets', 201, post({ ...limit, member: ids.member }))
  const headerOf = async (key: string) => {
    const body = { model: 'demo', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
    const answer = await withKey(key).send('/v1/messages', post(body))
    await answer.arrayBuffer()
    return [answer.status, answer.headers.get('anthropic-ratelimit-unified-status')]
  }
  expect(await headerOf(tokens.ofMember)).toEqual([200, 'allowed'])
  expect(await headerOf(keyOfMember)).toEqual([200, null])
  const cap = { limitTokens: 1, period: 'month', message: 'Ask Ann.' }
  const { id, used } = await owner.json('/v1/budgets', 201, post({ ...cap, member: ids.member }))
  expect(used).toBeNull()
  await call(tokens.ofMember)
  await call(tokens.ofMember, {}, 429)
  expect(await owner.json(`/v1/budgets/${id}`, 200)).toMatchObject({ isExhausted: null })
  const environment = { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key }
  const listed = await runCliInProcess(['budgets', 'list'], { environment })
  expect(listed.stdout).toMatch(new RegExp(`^${id} +hidden +1 tokens +month +user`, 'm'))
  const single = await runCliInProcess(['budgets', 'show', id as string], { environment })
  expect(single.stdout).toMatch(/^used +hidden$/m)
  expect(await member.json(`/v1/budgets/${id}`, 200)).toMatchObject({ isExhausted: true })
  await owner.json(`/v1/budgets/${id}`, 200, { method: 'PATCH', body: { limitTokens: 1_000_000 } })
  await call(tokens.ofMember)
  await setSwitch('administrators')
  expect(await headerOf(keyOfMember)).toEqual([200, 'allowed'])
  for (const each of [id, usd.id])
    expect((await owner.send(`/v1/budgets/${each}`, { method: 'DELETE' })).status).toBe(204)
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
