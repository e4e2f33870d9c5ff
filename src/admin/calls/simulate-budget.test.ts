/** `POST /v1/budgets/simulate`, request by request. The clock shows 2026-01-02T03:04:05Z. */
import { afterEach, beforeEach, describe, expect, setSystemTime, spyOn, test } from 'bun:test'
import type { CallRecord } from '../../core/call.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import { stranger, strangerKey, testKey, useControlPlane } from '../control-plane.fixture.ts'
import { loggedCall } from './call-log.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()
const URL = '/v1/budgets/simulate'
beforeEach(() => void setSystemTime(new Date('2026-01-02T03:04:05.006Z')))
afterEach(() => void setSystemTime())

const MONTH = { gateId: 'demo', limitUsd: 0.00001, period: 'month' }
const simulate = (body: object) => sendForJson({ method: 'POST', url: URL, body })

/** Each call costs 3,000 billionths of a dollar. */
function callAt(time: string, changes: Partial<CallRecord> = {}): CallRecord {
  return loggedCall(`req_${time}_${changes.keyId ?? ''}_${changes.gateId ?? ''}`, {
    startedAt: Date.parse(time),
    ...changes,
  })
}

describe('an invalid field is named', () => {
  check([
    ['no limit', `POST ${URL}`, { gateId: 'demo', period: 'day' }, 400, 'limitUsd: is missing'],
    ['a gate that is not there', `POST ${URL}`, { ...MONTH, gateId: 'nope' }, 400, 'names no gate'],
    ['an unknown field', `POST ${URL}`, { ...MONTH, until: 'x' }, 400, 'until'],
    ['a time that is none', `POST ${URL}`, { ...MONTH, from: 'x' }, 400, 'from: must be a time'],
    [
      'a range that ends before it begins',
      `POST ${URL}`,
      { ...MONTH, from: '2025-12-02', to: '2025-12-01' },
      400,
      'to: must be later than from',
    ],
    [
      'a range that has not begun',
      `POST ${URL}`,
      { ...MONTH, from: '2026-02-01' },
      400,
      'from: must be in the past',
    ],
  ])
})

describe('calls in the log', () => {
  beforeEach(async () => {
    await current().store.calls.insertMany([
      callAt('2025-11-30T23:59:59Z'),
      callAt('2025-12-01T00:00:00Z'),
      callAt('2025-12-01T00:00:01Z'),
      callAt('2025-12-02T00:00:00Z', { gateId: 'other' as GateId }),
      callAt('2025-12-02T00:00:00Z', { accountId: stranger, keyId: 'key_s' as KeyId }),
      callAt('2025-12-03T00:00:00Z'),
      callAt('2025-12-04T00:00:00Z'),
      callAt('2025-12-31T23:59:59Z', { keyId: 'key_2' as KeyId }),
      callAt('2026-01-01T00:00:00Z'),
    ])
  })

  test('are counted as the budget would have counted them, in its last full month', async () => {
    const answer = await simulate(MONTH)
    expect(answer).toMatchObject({
      from: '2025-12-01T00:00:00.000Z',
      to: '2026-01-01T00:00:00.000Z',
      admitted: { calls: 4, tokens: 12, usd: 0.000012 },
      refused: { calls: 1, tokens: 3, usd: 0.000003 },
      firstRefusedAt: '2025-12-31T23:59:59.000Z',
      periods: [
        {
          from: '2025-12-01T00:00:00.000Z',
          to: '2026-01-01T00:00:00.000Z',
          admitted: { calls: 4 },
          refused: { calls: 1 },
          firstRefusedAt: '2025-12-31T23:59:59.000Z',
        },
      ],
      heads: [{ type: 'gate', id: 'demo', name: 'demo', refused: { calls: 1 } }],
      headsCounted: 1,
      headsStopped: 1,
    })
  })

  test('of a day belong to the day in which they began', async () => {
    const { periods, from } = await simulate({ gateId: 'demo', limitTokens: 3, period: 'day' })
    expect(from).toBe('2025-12-26T00:00:00.000Z')
    expect(periods).toMatchObject([
      { from: '2025-12-31T00:00:00.000Z', admitted: { calls: 1 } },
      { from: '2026-01-01T00:00:00.000Z', admitted: { calls: 1 }, firstRefusedAt: null },
    ])
    const range = { from: '2025-12-01', to: '2025-12-02T00:00:00Z' }
    const days = await simulate({ gateId: 'demo', limitTokens: 3, period: 'day', ...range })
    expect(days.periods).toMatchObject([
      { admitted: { calls: 1 }, refused: { calls: 1 }, firstRefusedAt: '2025-12-01T00:00:01.000Z' },
    ])
  })

  test('count in total from the oldest call on', async () => {
    const total = { gateId: 'demo', limitTokens: 6, period: 'total' }
    expect(await simulate(total)).toMatchObject({
      from: '2025-12-03T03:04:05.006Z',
      to: '2026-01-02T03:04:05.006Z',
      admitted: { calls: 2 },
      refused: { calls: 1 },
      firstRefusedAt: '2026-01-01T00:00:00.000Z',
    })
  })

  test('are not simulated for an access token', async () => {
    const body = { name: 'jane', gates: ['demo'] }
    const { token } = await sendForJson({ method: 'POST', url: '/v1/access-tokens', body })
    const headers = { authorization: `Bearer ${token}` }
    const refused = await send({ method: 'POST', url: URL, body: MONTH, headers })
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('An access token can only call gates')
  })

  test('are never those of another account', async () => {
    const own = await send({
      method: 'POST',
      url: URL,
      body: MONTH,
      headers: { authorization: `Bearer ${strangerKey}` },
    })
    expect(own.status).toBe(400)
    expect(await own.text()).toContain('names no gate')
    const key = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'ours' } })
    const ofKey = await send({
      method: 'POST',
      url: URL,
      body: { keyId: key.id, limitUsd: 1, period: 'day' },
      headers: { authorization: `Bearer ${strangerKey}` },
    })
    expect(ofKey.status).toBe(400)
    expect(await ofKey.text()).toContain('keyId: is not the id of a key of this account')
  })

  test('leave no budget and no entry in the audit log', async () => {
    const { data: before } = await sendForJson({ url: '/v1/audit-log' })
    await simulate(MONTH)
    expect(await sendForJson({ url: '/v1/budgets' })).toMatchObject({ data: [] })
    expect(await sendForJson({ url: '/v1/audit-log' })).toMatchObject({ data: before })
  })

  test('that are deleted are said to be missing', async () => {
    const { store } = current()
    await store.usage.noteCallsDeletedBefore(Date.parse('2025-12-03T00:00:00Z'))
    const { from, limitations } = await simulate(MONTH)
    expect(from).toBe('2025-12-03T00:00:00.000Z')
    expect(limitations).toContain(
      'Calls before 2025-12-03T00:00:00.000Z are deleted, so the simulation begins there.',
    )
  })
})

test('a budget of each user lists only the users whose figures the caller sees', async () => {
  const { attribution, store } = current()
  await store.calls.insertMany([
    callAt('2025-12-01T00:00:00Z', { user: 'end:1' }),
    callAt('2025-12-02T00:00:00Z', { user: 'end:1' }),
    callAt('2025-12-03T00:00:00Z', { user: 'end:2' }),
    callAt('2025-12-04T00:00:00Z'),
  ])
  const each = { scope: 'each-user', limitTokens: 1, period: 'month' }
  const figures = {
    admitted: { calls: 2 },
    refused: { calls: 1 },
    headsCounted: 2,
    headsStopped: 1,
  }
  const hidden = await simulate(each)
  expect(hidden).toMatchObject({ ...figures, heads: [] })
  expect(JSON.stringify(hidden)).not.toContain('end:')
  expect(hidden.limitations).toContain(
    'The users are not listed, because their figures are hidden from you.',
  )
  expect(hidden.limitations).toContain('1 call has no known user, so the budget does not count it.')
  await attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'administrators' })
  expect(await simulate(each)).toMatchObject({
    ...figures,
    heads: [{ type: 'user', id: 'end:1', refused: { calls: 1 } }],
  })
})

test('a budget of the account, a tag or a user counts their calls', async () => {
  await sendForJson({ method: 'POST', url: '/v1/tags', body: { name: 'team' } })
  const { attribution, store } = current()
  const tags = String(attribution.hash(DEFAULT_ACCOUNT, 'tag', 'team'))
  const user = `end:${attribution.hash(DEFAULT_ACCOUNT, 'user', 'bob')}`
  await store.calls.insertMany([
    callAt('2025-12-01T00:00:00Z', { tags: `${'0'.repeat(16)} ${tags}` }),
    callAt('2025-12-02T00:00:00Z', { user }),
    callAt('2025-12-03T00:00:00Z', { user }),
  ])
  const small = { limitTokens: 1, period: 'month' }
  expect(await simulate({ ...small, scope: 'account' })).toMatchObject({
    admitted: { calls: 1 },
    refused: { calls: 2 },
    heads: [{ type: 'account', id: DEFAULT_ACCOUNT }],
  })
  expect(await simulate({ ...small, tag: 'team' })).toMatchObject({
    admitted: { calls: 1 },
    refused: { calls: 0 },
  })
  const hidden = await send({ method: 'POST', url: URL, body: { ...small, endUser: 'bob' } })
  expect(hidden.status).toBe(403)
  expect(await hidden.json()).toMatchObject({ message: expect.stringContaining('peopleFigures') })
  await attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'administrators' })
  expect(await simulate({ ...small, endUser: 'bob' })).toMatchObject({
    admitted: { calls: 1 },
    refused: { calls: 1 },
    heads: [{ type: 'user', id: user }],
  })
})

test('a budget that steers moves calls to targets with a lower known price', async () => {
  const targets = [{ model: 'openai/gpt-5' }, { model: 'openai/gpt-5-mini' }]
  await sendForJson({ method: 'POST', url: '/v1/gates', body: { id: 'pair', targets } })
  const ofPair = { gateId: 'pair' as GateId }
  await current().store.calls.insertMany([
    callAt('2025-12-01T00:00:00Z', ofPair),
    callAt('2025-12-02T00:00:00Z', ofPair),
    callAt('2025-12-03T00:00:00Z', ofPair),
    callAt('2025-12-04T00:00:00Z', { gateId: 'deleted' as GateId }),
  ])
  const steering = { scope: 'account', limitUsd: 0.000003, period: 'month' }
  const cheaper = await simulate({ ...steering, atLimit: 'cheaper', refuseAt: 2 })
  expect(cheaper).toMatchObject({
    admitted: { calls: 1, usd: 0.000003 },
    moved: { calls: 2, usd: 0.0000006, savedUsd: 0.0000054 },
    firstMovedAt: '2025-12-02T00:00:00.000Z',
    refused: { calls: 1 },
  })
  expect(cheaper.limitations).toContain(
    '1 refused call was made through gates that are deleted, so the other targets are unknown.',
  )
  const wall = { ...steering, atLimit: 'cheaper', refuseAt: 1.1 }
  expect(await simulate(wall)).toMatchObject({ moved: { calls: 1 }, refused: { calls: 2 } })
  const free = { ...steering, atLimit: 'free-only' }
  expect(await simulate(free)).toMatchObject({ moved: { calls: 0 }, refused: { calls: 3 } })
})

test('calls without a price count as the budget says', async () => {
  const unpriced = { cost: { nanoUsd: null, status: 'unknown', source: null } } as const
  await current().store.calls.insertMany([
    callAt('2025-12-01T00:00:00Z', unpriced),
    callAt('2025-12-02T00:00:00Z', unpriced),
  ])
  const small = { ...MONTH, limitUsd: 0.000001 }
  const outcome = async (rule: string) => {
    const { admitted, refused, limitations } = await simulate({ ...small, unpriced: rule })
    return {
      admitted,
      refused,
      said: (limitations as string[]).find((each) => each.includes('price')),
    }
  }
  expect(await outcome('allow')).toMatchObject({
    admitted: { calls: 2, usd: 0 },
    said: '2 calls have no known price. Such calls count nothing.',
  })
  expect(await outcome('refuse')).toMatchObject({
    refused: { calls: 2, usd: 0 },
    said: '2 calls have no known price. The budget refuses such calls.',
  })
  expect(await outcome('estimate')).toMatchObject({
    admitted: { calls: 1, usd: 0.00003 },
    refused: { calls: 1, usd: 0.00003 },
    said: '2 calls have no known price. Such calls count at an estimated price.',
  })
})

test('a third simulation at the same time waits its turn', async () => {
  const ask = () => send({ method: 'POST', url: URL, body: MONTH })
  const answers = await Promise.all([ask(), ask(), ask()])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429])
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toBe('5')
  expect(await refused?.text()).toContain('Two simulations of this account are running')
  expect((await ask()).status).toBe(200)
})

test('a simulation ends when its client leaves', async () => {
  const leaving = new AbortController()
  const { store, controlPlane, failures } = current()
  let read = 0
  const reading = spyOn(store.calls, 'readRange').mockImplementation(async function* () {
    for (; read < 10; read += 1) {
      yield []
      leaving.abort()
    }
  })
  try {
    const request = new Request(`http://gateway${URL}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(MONTH),
      signal: leaving.signal,
    })
    const answer = await controlPlane.handle(request, 'req_test' as CallId, undefined)
    expect([answer.status, read]).toEqual([499, 1])
    expect(failures).toEqual([])
  } finally {
    reading.mockRestore()
  }
})

test('more users than the memory may hold are refused, with the time that they reach', async () => {
  const calls = Array.from({ length: 100_001 }, (_, user) =>
    callAt('2025-12-03T00:00:00Z', { user: `end:${user.toString(16).padStart(16, '0')}` }),
  )
  const reading = spyOn(current().store.calls, 'readRange').mockImplementation(async function* () {
    yield calls
  })
  try {
    const body = { scope: 'each-user', limitUsd: 1, period: 'month' }
    const answer = await send({ method: 'POST', url: URL, body })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(
      'to: a simulation counts at most 100,000 users or keys, and these end at 2025-12-03T00:00:00',
    )
  } finally {
    reading.mockRestore()
  }
})
