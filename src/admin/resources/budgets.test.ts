/** `/v1/budgets` and `/v1/account`, request by request. */
import { describe, expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const valid = { gateId: 'demo', limitTokens: 1000, period: 'day' }

async function create(body: object = {}): Promise<Record<string, unknown>> {
  return await plane.sendForJson({
    method: 'POST',
    url: '/v1/budgets',
    body: { ...valid, ...body },
  })
}

test('a time zone sets when the period ends; without one it is UTC', async () => {
  const zoned = await create({ timeZone: 'Asia/Kolkata' })
  expect(zoned).toMatchObject({
    timeZone: 'Asia/Kolkata',
    resetsAt: expect.stringMatching(/T18:30:00\.000Z$/),
  })
  expect(await create()).toMatchObject({
    timeZone: 'UTC',
    resetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
  })
})

test.each([
  ['europe/BERLIN', 'Europe/Berlin'],
  ['utc', 'UTC'],
  ['asia/kolkata', 'Asia/Kolkata'],
])('a time zone given as %s is stored as %s', async (timeZone, name) => {
  expect(await create({ timeZone })).toMatchObject({ timeZone: name })
  const [stored] = await plane.current().store.budgets.loadAll()
  expect(stored?.timeZone ?? 'UTC').toBe(name)
})

describe('the limit with its raise is at most the highest limit', () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const change = (id: unknown, body: object) =>
    plane.sendForJson({ method: 'PATCH', url: `/v1/budgets/${id}`, body })
  test.each([
    [{ limitTokens: 1_000 }, 999_999_999_000, 'limitTokens', '1000000000000 tokens'],
    [{ limitTokens: undefined, limitUsd: 50 }, 8_999_950, 'limitUsd', '9000000 US dollars'],
  ])('of %j', async (limit, most, field, highest) => {
    const { id } = await create(limit)
    const raise = { by: most, until }
    const message = `must be less: the limit with its raise is at most ${highest}`
    expect(await change(id, { raise: { ...raise, by: most + 1 } })).toMatchObject({
      message: `raise.by: ${message}`,
    })
    expect(await change(id, { raise })).toMatchObject({ raise: { by: most } })
    expect(await change(id, { name: 'other' })).toMatchObject({ name: 'other' })
    expect(await change(id, { [field]: 2_000 })).toMatchObject({ message: `${field}: ${message}` })
    expect(await change(id, { [field]: 2_000, raise: null })).toMatchObject({ [field]: 2_000 })
  })
})

describe('an invalid field is named', () => {
  plane.check([
    ['no scope', 'POST /v1/budgets', { limitTokens: 1, period: 'day' }, 400, 'scope: is missing'],
    [
      'two scopes',
      'POST /v1/budgets',
      { ...valid, keyId: 'key_1' },
      400,
      'gateId: cannot be given together with keyId',
    ],
    [
      'no limit',
      'POST /v1/budgets',
      { gateId: 'demo', period: 'day' },
      400,
      'limitUsd: is missing',
    ],
    ['two limits', 'POST /v1/budgets', { ...valid, limitUsd: 1 }, 400, 'limitUsd: cannot be'],
    [
      'a gate that is not there',
      'POST /v1/budgets',
      { ...valid, gateId: 'nope' },
      400,
      'gateId: names no gate',
    ],
    [
      'a key that is not there',
      'POST /v1/budgets',
      { keyId: 'key_9', limitUsd: 1, period: 'day' },
      400,
      'keyId',
    ],
    [
      'a zone that is not there',
      'POST /v1/budgets',
      { ...valid, timeZone: 'Mars/Base' },
      400,
      'timeZone: is not the IANA name of a time zone',
    ],
    ['an offset', 'POST /v1/budgets', { ...valid, timeZone: '+05:30' }, 400, 'timeZone: is not'],
    ['a limit of nothing', 'POST /v1/budgets', { ...valid, limitTokens: 0 }, 400, 'limitTokens'],
    ['half a token', 'POST /v1/budgets', { ...valid, limitTokens: 1.5 }, 400, 'limitTokens'],
    [
      'no money',
      'POST /v1/budgets',
      { gateId: 'demo', limitUsd: 0, period: 'day' },
      400,
      'limitUsd: must be above 0',
    ],
    [
      'above 9 million dollars',
      'POST /v1/budgets',
      { gateId: 'demo', limitUsd: 9_000_000.01, period: 'day' },
      400,
      'limitUsd: ',
    ],
    [
      'too exact',
      'POST /v1/budgets',
      { gateId: 'demo', limitUsd: 0.0000000001, period: 'day' },
      400,
      'limitUsd',
    ],
    [
      'less than can be counted',
      'POST /v1/budgets',
      { gateId: 'demo', limitUsd: 1e-10, period: 'day' },
      400,
      'limitUsd: must be above 0',
    ],
    ['an unknown period', 'POST /v1/budgets', { ...valid, period: 'year' }, 400, 'period'],
    ['a share above all', 'POST /v1/budgets', { ...valid, alertAt: [1.1] }, 400, 'alertAt[0]'],
    [
      'a share twice',
      'POST /v1/budgets',
      { ...valid, alertAt: [0.5, 0.5] },
      400,
      'alertAt: must not hold',
    ],
    ['an id', 'POST /v1/budgets', { ...valid, id: 'bud_1' }, 400, 'id: is set by the gateway'],
    ['an unknown query', 'GET /v1/budgets?all=1', undefined, 400, 'all'],
    ['a budget that is not there', 'GET /v1/budgets/bud_1', undefined, 404],
    ['a change of one that is not there', 'PATCH /v1/budgets/bud_1', { name: 'x' }, 404],
    ['a deletion of one that is not there', 'DELETE /v1/budgets/bud_1', undefined, 404],
  ])
})

test('a budget without a name gets the name of its key', async () => {
  const key = await plane.sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'team a' } })
  const scope = { keyId: key.id, gateId: undefined }
  expect(await create(scope)).toMatchObject({ name: 'team a', keyId: key.id })
})

test('a budget is created, listed, changed and deleted', async () => {
  const made = await create({ alertAt: [1, 0.5] })
  expect(made).toMatchObject({
    name: 'demo',
    keyId: null,
    gateId: 'demo',
    limitTokens: 1000,
    limitUsd: null,
    period: 'day',
    unpriced: 'estimate',
    alertAt: [0.5, 1],
    used: { tokens: 0, usd: 0, unpricedCalls: 0 },
    isExhausted: false,
    resetsAt: '2026-01-03T00:00:00.000Z',
  })
  const url = `/v1/budgets/${made.id}`
  expect(await plane.sendForJson({ url: '/v1/budgets' })).toMatchObject({ data: [{ id: made.id }] })
  const changed = await plane.sendForJson({
    method: 'PATCH',
    url,
    body: { limitTokens: 5, name: 'small' },
  })
  expect(changed).toMatchObject({
    name: 'small',
    limitTokens: 5,
    unpriced: 'estimate',
    alertAt: [0.5, 1],
  })
  const allowing = await plane.sendForJson({ method: 'PATCH', url, body: { unpriced: 'allow' } })
  expect(allowing).toMatchObject({ name: 'small', unpriced: 'allow' })
  for (const [body, says] of [
    [{ limitUsd: 5 }, 'limitUsd: is not what this budget limits'],
    [{ period: 'week' }, 'period: cannot be changed'],
    [{ gateId: 'other' }, 'gateId: cannot be changed'],
  ] as const) {
    const refused = await plane.send({ method: 'PATCH', url, body })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(says)
  }
  expect((await plane.send({ method: 'DELETE', url })).status).toBe(204)
  expect((await plane.send({ url })).status).toBe(404)
})

test('words for callers hold no characters that change the direction of text', async () => {
  const refused = await plane.send({
    method: 'PATCH',
    url: `/v1/budgets/${(await create({})).id}`,
    body: { message: 'a\u202eb' },
  })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('message')])
})

test('money is kept to the billionth of a dollar', async () => {
  expect(await create({ limitTokens: undefined, limitUsd: 12.345678901 })).toMatchObject({
    limitUsd: 12.345678901,
  })
})

test("another account's budgets cannot be seen, changed or deleted", async () => {
  const { id } = await create()
  const headers = { authorization: `Bearer ${strangerKey}` }
  const url = `/v1/budgets/${id}`
  expect(await plane.sendForJson({ url: '/v1/budgets', headers })).toMatchObject({ data: [] })
  expect((await plane.send({ url, headers })).status).toBe(404)
  expect((await plane.send({ method: 'PATCH', url, headers, body: { name: 'mine' } })).status).toBe(
    404,
  )
  expect((await plane.send({ method: 'DELETE', url, headers })).status).toBe(404)
  expect(
    (await plane.send({ method: 'POST', url: '/v1/budgets', headers, body: valid })).status,
  ).toBe(400)
})

test('the account shows its plan, its limits and its usage', async () => {
  expect(await plane.sendForJson({ url: '/v1/account' })).toEqual({
    name: 'Default account',
    id: DEFAULT_ACCOUNT,
    plan: 'unlimited',
    limits: {
      requestsPerMinute: null,
      tokensPerMinute: null,
      concurrentCalls: null,
      accountRequestsPerMinute: null,
      accountConcurrentCalls: null,
      monthlyTokens: null,
      monthlySpendUsd: null,
    },
    quota: {
      tokens: { limit: null, used: 0, reserved: 0, resetsAt: '2026-02-01T00:00:00.000Z' },
      spend: {
        limit: null,
        used: 0,
        reserved: 0,
        resetsAt: '2026-02-01T00:00:00.000Z',
        unpricedCalls: 0,
      },
    },
    retention: { callLogDays: 30, hourlySumsDays: 90, auditLogDays: 365 },
  })
  const headers = { authorization: `Bearer ${strangerKey}` }
  expect(await plane.sendForJson({ url: '/v1/account', headers })).toMatchObject({
    plan: 'free',
    limits: { monthlyTokens: 1_000_000, monthlySpendUsd: 5 },
  })
})
