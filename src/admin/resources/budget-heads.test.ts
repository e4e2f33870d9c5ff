/** `/v1/budgets/{id}/heads`: the users or keys under a default budget. */
import { beforeEach, expect, test } from 'bun:test'
import { createUserId, DEFAULT_ACCOUNT, type KeyId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const { sendForJson, current } = plane
const ANN = createUserId()
const BOB = `end:${'ab'.repeat(8)}`
const HOUR_MS = 3_600_000

beforeEach(async () => {
  const user = { id: ANN, name: 'Ann', email: 'ann@example.test', passwordHash: 'x' }
  const joining = { type: 'first', accountId: DEFAULT_ACCOUNT } as const
  expect(await current().store.users.create(user, joining, 1)).toBeUndefined()
})

const post = (url: string, body: object) => sendForJson({ method: 'POST', url, body })
const seePeople = () =>
  current().attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'administrators' })

interface Made {
  readonly user?: string
  readonly keyId?: string
  readonly tokens: number
  readonly startedAt?: number
}

async function add(calls: readonly Made[]) {
  await current().store.calls.insertMany(
    calls.map(({ tokens, keyId = 'key_1', startedAt = Date.now(), ...call }) =>
      createCallRecord({
        ...call,
        keyId: keyId as KeyId,
        accountId: DEFAULT_ACCOUNT,
        startedAt,
        usage: { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
      }),
    ),
  )
}

test('users are listed with their use, the greatest first, and with a budget of their own', async () => {
  await seePeople()
  const limit = { limitTokens: 100, period: 'total' }
  const { id } = await post('/v1/budgets', { ...limit, scope: 'each-user' })
  const own = await post('/v1/budgets', { ...limit, member: ANN })
  await post('/v1/budgets', { ...limit, member: ANN, period: 'day' })
  await add([{ user: ANN, tokens: 50 }, { user: BOB, tokens: 200 }, { tokens: 5 }])
  const first = await sendForJson({ url: `/v1/budgets/${id}/heads?limit=1` })
  expect(first.data).toMatchObject([{ id: BOB, name: null, share: 2, budgetId: null }])
  const rest = await sendForJson({ url: `/v1/budgets/${id}/heads?cursor=${first.nextCursor}` })
  expect(rest).toMatchObject({
    data: [{ id: ANN, name: 'Ann', used: { tokens: 50 }, share: 0.5, budgetId: own.id }],
    nextCursor: null,
  })
})

test('keys and service tokens are listed, without members’ own tokens and the playground', async () => {
  const { id } = await post('/v1/budgets', { scope: 'each-key', limitTokens: 100, period: 'total' })
  const key = await post('/v1/keys', { name: 'ci' })
  const token = await post('/v1/access-tokens', { name: 'ann', owner: { type: 'member', id: ANN } })
  await add([
    { keyId: String(key.id), tokens: 10 },
    { keyId: String(token.id), user: ANN, tokens: 20 },
    { keyId: ANN, user: ANN, tokens: 30 },
  ])
  expect((await sendForJson({ url: `/v1/budgets/${id}/heads` })).data).toMatchObject([
    { id: key.id, name: 'ci', used: { tokens: 10 }, share: 0.1 },
  ])
})

test('calls from before the creation of a budget are not listed, as they do not count', async () => {
  await seePeople()
  const limit = { limitTokens: 100, period: 'total' }
  const key = await post('/v1/keys', { name: 'ci' })
  const { id } = await post('/v1/budgets', { ...limit, scope: 'each-user' })
  const { id: ofKeys } = await post('/v1/budgets', { ...limit, scope: 'each-key' })
  const { createdAt } = current().budgets.get(DEFAULT_ACCOUNT, String(id))
  const of = { user: BOB, keyId: String(key.id) }
  await add([
    { user: BOB, tokens: 200, startedAt: createdAt - 1 },
    // Sums by key are by the hour.
    { ...of, tokens: 200, startedAt: createdAt - HOUR_MS },
    { user: ANN, tokens: 7, startedAt: createdAt - 1 },
    { ...of, tokens: 3 },
  ])
  const list = async (budget: unknown, query = '') =>
    (await sendForJson({ url: `/v1/budgets/${budget}/heads${query}` })).data
  expect(await list(id)).toMatchObject([{ id: BOB, used: { tokens: 3 } }])
  expect(await list(ofKeys, `?key=${key.id}`)).toMatchObject([{ id: key.id, used: { tokens: 3 } }])
})

test('one user is found by id, name or hash, and one key by id', async () => {
  await seePeople()
  const limit = { limitTokens: 100, period: 'total' }
  const { id } = await post('/v1/budgets', { ...limit, scope: 'each-user' })
  const { id: ofKeys } = await post('/v1/budgets', { ...limit, scope: 'each-key' })
  const key = await post('/v1/keys', { name: 'ci' })
  await add([
    ...[BOB, `end:${'cd'.repeat(8)}`].map((user) => ({ user, tokens: 200 })),
    { user: ANN, tokens: 50, keyId: String(key.id) },
    { user: ANN, tokens: 1, keyId: ANN },
  ])
  const of = async (budget: unknown, query: Record<string, string>) =>
    await sendForJson({ url: `/v1/budgets/${budget}/heads?${new URLSearchParams(query)}` })
  for (const user of [ANN, 'Ann', 'ann@example.test'])
    expect(await of(id, { user })).toMatchObject({
      data: [{ id: ANN, name: 'Ann', used: { tokens: 51 } }],
      nextCursor: null,
    })
  for (const user of [BOB, BOB.slice('end:'.length)])
    expect(await of(id, { user })).toMatchObject({ data: [{ id: BOB, share: 2 }] })
  expect(await of(ofKeys, { key: String(key.id) })).toMatchObject({
    data: [{ id: key.id, name: 'ci', used: { tokens: 50 } }],
    nextCursor: null,
  })
  // Members are no keys, although the playground's calls have the member in place of a key.
  expect((await of(ofKeys, { key: ANN })).data).toEqual([])
  expect((await of(id, { user: `end:${'ef'.repeat(8)}` })).data).toEqual([])
  expect((await of(ofKeys, { key: 'key_0' })).data).toEqual([])
  const refused = async (budget: unknown, query: Record<string, string>) =>
    JSON.stringify(await of(budget, query))
  expect(await refused(id, { user: 'Zoe' })).toContain('user: is not the id, name or e-mail')
  expect(await refused(id, { key: String(key.id) })).toContain('key: is for budgets of the scope')
  expect(await refused(ofKeys, { user: ANN })).toContain('user: is for budgets of the scope')
})

test('is refused to a key that sees no people, and to another account; other budgets have none', async () => {
  const limit = { limitTokens: 100, period: 'total' }
  const { id } = await post('/v1/budgets', { ...limit, scope: 'each-user' })
  const of = async (budgetId: unknown, headers = {}) =>
    JSON.stringify(await sendForJson({ url: `/v1/budgets/${budgetId}/heads`, headers }))
  expect(await of(id)).toContain('API keys see no figures of people')
  const { id: ofAccount } = await post('/v1/budgets', { ...limit, scope: 'account' })
  expect(await of(ofAccount)).toContain('"data":[]')
  await seePeople()
  expect(await of(id)).toContain('"data":[]')
  expect(await of(id, { authorization: `Bearer ${strangerKey}` })).toContain('not_found')
})
