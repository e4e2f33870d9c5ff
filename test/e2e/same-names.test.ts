/** Two accounts whose callers send the same user, session and tag: each sees its own calls only. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const NAMES = {
  'x-gatehouse-user': 'ann',
  'x-gatehouse-session': 'conversation-1',
  'x-gatehouse-tags': 'team',
}

interface Side {
  readonly caller: Browser
  readonly calls: number
  ids: { user: string; session: string; tag: string }
}

let server: Gatehouse
let ours: Side
let theirs: Side
beforeAll(async () => {
  server = await startGatehouse({ sandbox: true, environment: { GATEHOUSE_SIGN_UP: 'open' } })
  const eve = new Browser(server.url)
  const password = 'correct horse battery staple'
  const account = { email: 'eve@example.test', name: 'eve', password }
  await eve.json('/v1/auth/sign-up', 201, post(account))
  const { key } = await eve.json('/v1/keys', 201, post({ name: 'ours' }))
  ours = await fill(withKey(server.key), withKey(server.key), 3)
  theirs = await fill(withKey(String(key)), eve, 1)
})
afterAll(() => server.remove())

function withKey(key: string): Browser {
  const headers = { authorization: `Bearer ${key}`, origin: '', 'x-gatehouse-csrf': '', cookie: '' }
  return new Browser(server.url, headers)
}
function post(body: object) {
  return { method: 'POST', body }
}

async function fill(caller: Browser, owner: Browser, calls: number): Promise<Side> {
  const settings = { endUsers: true, peopleFigures: 'administrators' }
  await owner.json('/v1/account/attribution', 200, { method: 'PATCH', body: settings })
  await caller.json('/v1/tags', 201, post({ name: 'team' }))
  const gate = { id: 'same', targets: [{ model: 'sandbox/echo' }] }
  await caller.json('/v1/gates', 201, post(gate))
  for (const scope of [{ endUser: 'ann' }, { tag: 'team' }])
    await caller.json('/v1/budgets', 201, post({ ...scope, limitTokens: 1e6, period: 'total' }))
  const chat = { model: 'same', messages: [{ role: 'user', content: 'hi' }] }
  for (let call = 0; call < calls; call += 1)
    await caller.json('/v1/chat/completions', 200, { ...post(chat), headers: NAMES })
  const rows = await pollUntil('the rows with their name', async () => {
    const { data } = await caller.json('/v1/logs?user=end:ann', 200)
    const found = data as Record<string, string>[]
    return found.length === calls && found[0]?.userName === 'ann' ? found : undefined
  })
  const { user = '', session = '', tags: tag = '' } = rows[0] ?? {}
  return { caller, calls, ids: { user, session, tag } }
}

const listOf = async ({ caller }: Side, path: string) =>
  (await caller.json(path, 200)).data as Record<string, unknown>[]
const SUMS = '/v1/analytics?interval=all'

test('the same names have other ids in each account', () => {
  for (const id of ['user', 'session', 'tag'] as const) {
    expect(ours.ids[id]).not.toBe('')
    expect(theirs.ids[id]).not.toBe(ours.ids[id])
  }
})

test('sums, sessions and budgets by name count the calls of the own account', async () => {
  for (const side of [ours, theirs]) {
    const { ids, calls } = side
    for (const path of [
      `${SUMS}&group_by=user&search=ann`,
      `${SUMS}&group_by=session&user=end:ann`,
      `${SUMS}&group_by=tag&tag=team`,
      `${SUMS}&group_by=tag&search=tea`,
      '/v1/usage/sessions?session=conversation-1',
    ])
      expect([path, (await listOf(side, path)).map((row) => row.calls)]).toEqual([path, [calls]])
    const found = await side.caller.json('/v1/account/end-users?name=ann', 200)
    expect(found).toEqual({ user: ids.user })
    const used = (await listOf(side, '/v1/budgets')).map((row) => row.used as { tokens: number })
    expect(used.map(({ tokens }) => tokens)).toEqual([11 * calls, 11 * calls])
  }
})

test('the ids of another account find nothing', async () => {
  const { user, session, tag } = ours.ids
  for (const path of [
    `/v1/logs?user=${user}`,
    `/v1/logs?tag=${tag}`,
    `${SUMS}&user=${user}`,
    `${SUMS}&group_by=user&search=${user}`,
    `${SUMS}&group_by=tag&search=${tag}`,
    `/v1/usage/sessions?session=${session}`,
  ])
    expect([path, await listOf(theirs, path)]).toEqual([path, []])
  const one = `/v1/account/end-users/${user}`
  expect((await theirs.caller.send(`/v1/usage/sessions/${session}`)).status).toBe(404)
  expect((await theirs.caller.send(one)).status).toBe(404)
  expect((await theirs.caller.send(one, { method: 'DELETE' })).status).toBe(404)
  expect(await listOf(ours, '/v1/logs?user=end:ann')).toHaveLength(ours.calls)
})

test('a look-up with a key of another account leaves the sessions of that key findable', async () => {
  const { data } = await ours.caller.json('/v1/logs', 200)
  const [{ keyId } = { keyId: '' }] = data as { keyId: string }[]
  const session = 'conversation-2'
  await theirs.caller.json(`/v1/logs?session=${session}&key=${keyId}`, 200)
  const chat = { model: 'same', messages: [{ role: 'user', content: 'hi' }] }
  const headers = { 'x-gatehouse-session': session }
  await ours.caller.json('/v1/chat/completions', 200, { ...post(chat), headers })
  await server.stop()
  const restarted = await startGatehouse({ dataFolder: server.dataFolder, key: server.key })
  try {
    const again = new Browser(restarted.url, { authorization: `Bearer ${server.key}` })
    const path = `/v1/usage/sessions?session=${session}`
    const found = (await again.json(path, 200)).data as { calls: number }[]
    expect(found.map(({ calls }) => calls)).toEqual([1])
  } finally {
    await restarted.remove()
  }
})
