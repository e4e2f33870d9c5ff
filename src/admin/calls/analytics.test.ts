import { beforeEach, describe, expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import { stranger, useControlPlane } from '../control-plane.fixture.ts'
import { loggedCall as call } from './call-log.fixture.ts'

const { check, current, sendForJson } = useControlPlane()

const at = (time: string) => Date.parse(`2026-01-${time}Z`)
const NOVEMBER = 'from=2026-01-01&to=2026-02-01'

async function analytics(query: string): Promise<Record<string, unknown>[]> {
  return (await sendForJson({ url: `/v1/analytics?${query}` })).data as Record<string, unknown>[]
}

test('groups come in pages with the names of keys, and a cursor is of its order', async () => {
  const { store, keys } = current()
  const { record } = await keys.create({
    accountId: DEFAULT_ACCOUNT,
    name: 'Team',
    expiresAt: null,
  })
  await store.calls.insertMany([
    call('req_1', { startedAt: at('01T10:00:00'), keyId: record.id }),
    call('req_2', { startedAt: at('01T10:00:00'), keyId: 'key_gone' as KeyId }),
    call('req_3', { startedAt: at('01T10:00:00'), keyId: 'key_gone' as KeyId }),
  ])
  const url = `/v1/analytics?${NOVEMBER}&interval=all&group_by=key&limit=1`
  const first = await sendForJson({ url: `${url}&order=calls` })
  expect(first.data).toMatchObject([
    { group: 'key_gone', name: null, calls: 2 },
    { group: null, name: null, isRest: true, calls: 1 },
  ])
  const cursor = String(first.nextCursor)
  const second = await sendForJson({ url: `${url}&order=calls&cursor=${cursor}` })
  expect(second).toMatchObject({
    data: [{ group: record.id, name: 'Team', isRest: false, calls: 1 }],
    nextCursor: null,
  })
  const other = await sendForJson({ url: `${url}&order=cost&cursor=${cursor}` })
  expect(other).toMatchObject({ error: 'invalid_request' })
})

test('totals come with the steps, and percentiles can be left out', async () => {
  const { store } = current()
  const of = (gate: string) => ({ gateId: gate as GateId, durationMs: 100 })
  await store.calls.insertMany([
    call('req_1', { startedAt: at('01T10:00:00'), ...of('a') }),
    call('req_2', { startedAt: at('02T10:00:00'), ...of('a') }),
    call('req_3', { startedAt: at('02T10:00:00'), ...of('b') }),
  ])
  const query = `${NOVEMBER}&interval=day&group_by=gate`
  const whole = await sendForJson({ url: `/v1/analytics?${query}&limit=1&totals=true` })
  const measured = expect.objectContaining({ p50: expect.any(Number) })
  expect(whole).toMatchObject({
    total: { start: '2026-01-01T00:00:00.000Z', group: null, calls: 3, durationMs: measured },
    groupTotals: [
      { group: 'a', isRest: false, calls: 2, durationMs: measured },
      { group: null, isRest: true, calls: 1, durationMs: measured },
    ],
  })
  const counts = await sendForJson({ url: `/v1/analytics?${query}&percentiles=false` })
  expect(counts).not.toHaveProperty('total')
  expect(counts.data).toMatchObject(
    ['a', 'a', 'b'].map((group) => ({ group, calls: 1, durationMs: { p50: null, p99: null } })),
  )
  const ofTotals = await sendForJson({
    url: `/v1/analytics?${query}&limit=1&totals=true&percentiles=totals`,
  })
  expect(ofTotals).toMatchObject({ total: whole.total, groupTotals: whole.groupTotals })
  expect(ofTotals.data).toMatchObject(
    ['a', 'a', null].map((group) => ({ group, calls: 1, durationMs: { p50: null, p99: null } })),
  )
  const refused = await sendForJson({ url: `/v1/analytics?${query}&percentiles=totals` })
  expect(refused).toMatchObject({ error: 'invalid_request', details: [{ field: 'percentiles' }] })
  const none = await sendForJson({ url: '/v1/analytics?to=2025-01-01&totals=true' })
  expect(none).toMatchObject({ total: null, groupTotals: [], data: [] })
})

test('a deleted key keeps its name in the usage that it left', async () => {
  const { store, keys } = current()
  const { record } = await keys.create({
    accountId: DEFAULT_ACCOUNT,
    name: 'Gone',
    expiresAt: null,
  })
  await store.calls.insertMany([call('req_1', { startedAt: at('01T10:00:00'), keyId: record.id })])
  await keys.delete(DEFAULT_ACCOUNT, record.id)
  const { data } = await sendForJson({
    url: `/v1/analytics?${NOVEMBER}&interval=all&group_by=key`,
  })
  expect(data).toMatchObject([{ group: record.id, name: 'Gone', calls: 1 }])
})

describe('analytics', () => {
  check([
    [
      'an invalid interval',
      'GET /v1/analytics?interval=minute',
      undefined,
      400,
      'interval: must be',
    ],
    ['an invalid group', 'GET /v1/analytics?group_by=color', undefined, 400, 'group_by: must be'],
    [
      'an unknown parameter',
      'GET /v1/analytics?groupBy=gate',
      undefined,
      400,
      'groupBy: is not a known',
    ],
    ['an invalid time', 'GET /v1/analytics?from=x', undefined, 400, 'from: must be a time'],
    [
      'a reversed range',
      'GET /v1/analytics?from=2026-02-01&to=2026-01-01',
      undefined,
      400,
      'to: must be',
    ],
    ...[
      ['order=cost', 'order: needs group_by'],
      ['group_by=key&order=p95', 'order: must be'],
      ['group_by=key&limit=1001&interval=all', 'limit: must be a whole number from 1 to 1000'],
      ['group_by=key&limit=51', 'limit: must be at most 50 unless the interval is'],
      ['group_by=key&cursor=x', 'cursor: is not a cursor of this list'],
      ...[
        ['calls', 1e308, 'x'],
        ['calls', 1.5, 'x'],
        ['calls', 1, '\0'],
      ].map((place) => [
        `group_by=session&interval=all&cursor=${Buffer.from(JSON.stringify(place)).toString('base64url')}`,
        'cursor: is not a cursor of this list',
      ]),
      ['group_by=key&totals=true&cursor=x', 'totals: must be absent with cursor and search'],
      [
        `group_by=user&interval=all&search=${'a+'.repeat(11)}`,
        'search: must have at most 10 words',
      ],
      ['totals=yes', 'totals: must be'],
    ].map(([query = '', words = '']): [string, string, undefined, number, string] => [
      query,
      `GET /v1/analytics?${query}`,
      undefined,
      400,
      words,
    ]),
    ['a future', 'GET /v1/analytics?from=2126-01-01', undefined, 400, 'from: must be earlier'],
    [
      'a range by the hour',
      `GET /v1/analytics?interval=hour&${NOVEMBER}`,
      undefined,
      400,
      'interval: must',
    ],
    [
      'an age',
      'GET /v1/analytics?from=1970-01-01',
      undefined,
      400,
      'from: must be within ten years',
    ],
    [
      'refused calls of a target',
      'GET /v1/analytics/refused?target=a/b',
      undefined,
      400,
      'target: is not a',
    ],
    [
      'refused calls of a group',
      'GET /v1/analytics/refused?group_by=gate',
      undefined,
      400,
      'group_by: is not',
    ],
    [
      'refused calls by the hour',
      `GET /v1/analytics/refused?interval=hour&${NOVEMBER}`,
      undefined,
      400,
      'interval',
    ],
    ['refused calls', 'GET /v1/analytics/refused', undefined, 200, '"data":[]'],
    [
      'the last hour of four digits',
      'GET /v1/analytics?from=9999-12-31&to=9999-12-31T23:59:59Z',
      undefined,
      200,
      '"to":"9999-12-31T23:00:00.000Z"',
    ],
    [
      'a year of five digits in UTC',
      'GET /v1/analytics?to=9999-12-31T23:59:59-01:00',
      undefined,
      400,
      'to: must be a time',
    ],
    ['the last 30 days', 'GET /v1/analytics', undefined, 200, '"data":[]'],
  ])

  test('sums calls, tokens, costs and latencies up by step and group, of the own account only', async () => {
    const slow = { durationMs: 1000, firstByteMs: null }
    await current().store.calls.insertMany([
      call('req_1', { startedAt: at('01T10:00:00') }),
      call('req_2', { startedAt: at('01T10:59:59'), gateId: 'other' as GateId }),
      call('req_3', { startedAt: at('01T11:00:00'), ...slow }),
      call('req_4', {
        startedAt: at('02T00:00:00'),
        outcome: 'failed',
        status: 502,
        usage: null,
        cost: { nanoUsd: null, status: 'unknown', source: null },
        target: null,
      }),
      call('req_5', { startedAt: at('01T10:00:00'), accountId: stranger }),
    ])
    const days = await analytics(`${NOVEMBER}&group_by=gate`)
    expect(days).toMatchObject([
      {
        start: '2026-01-01T00:00:00.000Z',
        group: 'demo',
        calls: 2,
        errors: 0,
        tokens: { input: 2, output: 4, unreportedCalls: 0 },
        cost: { usd: 0.000006, estimatedCalls: 0, unknownCalls: 0, unpricedCalls: 0 },
        durationMs: { p50: 9 },
        firstByteMs: { p50: 5, p99: 5 },
      },
      { start: '2026-01-01T00:00:00.000Z', group: 'other', calls: 1 },
      {
        start: '2026-01-02T00:00:00.000Z',
        group: 'demo',
        calls: 1,
        errors: 1,
        tokens: { input: 0, unreportedCalls: 0 },
        cost: { usd: 0, unknownCalls: 0, unpricedCalls: 0 },
      },
    ])
    const { p99 } = (days[0]?.durationMs ?? {}) as { p99: number }
    expect(Math.abs(p99 - 1000)).toBeLessThanOrEqual(20.5)

    expect(
      await analytics('interval=hour&from=2026-01-01T10:30:00Z&to=2026-01-01T11:00:00Z'),
    ).toMatchObject([{ start: '2026-01-01T10:00:00.000Z', group: null, calls: 2 }])
    expect(await analytics(`interval=all&group_by=status&${NOVEMBER}`)).toMatchObject([
      { start: '2026-01-01T00:00:00.000Z', group: '2xx', calls: 3 },
      { group: '5xx', calls: 1 },
    ])
    expect(await analytics(`interval=month&group_by=target&${NOVEMBER}`)).toMatchObject([
      { group: 'openai/gpt-5', calls: 3 },
      { group: null, calls: 1 },
    ])
    expect(await analytics(`interval=all&gate=other&${NOVEMBER}`)).toMatchObject([{ calls: 1 }])
    expect(await analytics(`interval=all&key=key_2&${NOVEMBER}`)).toEqual([])
  })

  test('counts refused calls by their reason, of the own account only, and not as errors of a provider', async () => {
    const refused = {
      target: null,
      attempts: 0,
      outcome: 'failed',
      status: 429,
      usage: null,
    } as const
    await current().store.calls.insertMany([
      call('req_1', { ...refused, errorKind: 'rate_limited', refusals: 12 }),
      call('req_2', { ...refused, errorKind: 'quota_exceeded' }),
      call('req_3', { ...refused, errorKind: 'rate_limited', refusals: 1, accountId: stranger }),
      call('req_4', { ...refused, errorKind: 'kind_of_a_later_version' as never, refusals: 1 }),
    ])
    const start = '2026-01-01T00:00:00.000Z'
    expect(await sendForJson({ url: `/v1/analytics/refused?${NOVEMBER}` })).toEqual({
      ...{ from: start, to: '2026-02-01T00:00:00.000Z', interval: 'day' },
      data: [
        { start, status: 429, errorKind: 'rate_limited', calls: 12 },
        { start, status: 429, errorKind: null, calls: 1 },
        { start, status: 429, errorKind: 'quota_exceeded', calls: 1 },
      ],
    })
    expect(await analytics(`interval=all&${NOVEMBER}`)).toMatchObject([
      { calls: 1, errors: 1, refused: 1 },
    ])
  })

  test('more than fifty groups: those with the most calls, and the rest as one', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `key_${String(index).padStart(2, '0')}`)
    await current().store.calls.insertMany(
      keys.flatMap((key, index) =>
        Array.from({ length: index < 50 ? 2 : 1 }, (_, number) =>
          call(`req_${key}_${number}`, { keyId: key as KeyId }),
        ),
      ),
    )
    const sums = await analytics(`interval=all&group_by=key&${NOVEMBER}`)
    expect(sums).toHaveLength(51)
    expect(sums.slice(0, 50).map(({ group }) => group)).toEqual(keys.slice(0, 50))
    expect(sums.at(-1)).toMatchObject({ group: null, isRest: true, calls: 10 })
  })
})

describe('hours that are deleted', () => {
  const OLD = [at('02T03:10:00'), at('02T20:00:00'), at('03T05:00:00'), at('04T07:30:00')]
  beforeEach(async () => {
    const { store } = current()
    await store.calls.insertMany(OLD.map((startedAt, index) => call(`req_${index}`, { startedAt })))
    await store.usage.deleteHoursBefore(at('04T00:00:00'))
  })
  const ask = async (query: string, path = '/v1/analytics') =>
    await sendForJson({ url: `${path}?${query}` })
  const calls = (answer: Record<string, unknown>) =>
    (answer.data as { calls: number }[]).map((sum) => sum.calls)

  check([
    [
      'hours',
      'GET /v1/analytics?interval=hour&from=2026-01-03T23:00:00Z&to=2026-01-05',
      undefined,
      400,
      'interval: must be \\"day\\" or longer before 2026-01-04T00:00:00.000Z',
    ],
    [
      'hours of latencies',
      'GET /v1/analytics/latency?interval=hour&from=2026-01-02&to=2026-01-03',
      undefined,
      400,
      'interval: must be',
    ],
  ])

  test('a range within them is answered by whole days, and the answer says which', async () => {
    const part = 'from=2026-01-02T10:00:00Z&to=2026-01-03T04:00:00Z'
    const whole = { from: '2026-01-02T00:00:00.000Z', to: '2026-01-04T00:00:00.000Z' }
    for (const path of ['/v1/analytics', '/v1/analytics/latency']) {
      const days = await ask(part, path)
      expect([days, calls(days)]).toMatchObject([whole, [2, 1]])
      const all = await ask(`${part}&interval=all`, path)
      expect([all, calls(all)]).toMatchObject([whole, [3]])
      expect(all.data).toMatchObject([{ start: whole.from }])
    }
  })

  test('a range that ends later ends where it was asked to, and later hours are told apart', async () => {
    const across = await ask('from=2026-01-03T10:00:00Z&to=2026-01-04T07:00:00Z&interval=all')
    expect(across).toMatchObject({
      from: '2026-01-03T00:00:00.000Z',
      to: '2026-01-04T07:00:00.000Z',
    })
    expect(calls(across)).toEqual([1])
    const hours = await ask('from=2026-01-04&to=2026-01-05&interval=hour')
    expect(hours.data).toMatchObject([{ start: '2026-01-04T07:00:00.000Z', calls: 1 }])
  })
})

describe('latencies', () => {
  check([
    [
      'a group',
      'GET /v1/analytics/latency?group_by=gate',
      undefined,
      400,
      'group_by: is not a known',
    ],
    [
      'a range by the hour',
      `GET /v1/analytics/latency?interval=hour&${NOVEMBER}`,
      undefined,
      400,
      'interval: must',
    ],
    [
      'a reversed range',
      'GET /v1/analytics/latency?from=2026-02-01&to=2026-01-01',
      undefined,
      400,
      'to: must be',
    ],
    ['the last 30 days', 'GET /v1/analytics/latency', undefined, 200, '"data":[]'],
  ])

  test('counts calls by how long they took, step by step, of the own account only', async () => {
    await current().store.calls.insertMany([
      call('req_1', { startedAt: at('01T10:00:00'), durationMs: 4, firstByteMs: 1 }),
      call('req_2', { startedAt: at('01T12:00:00'), durationMs: 1_200, firstByteMs: null }),
      call('req_3', { startedAt: at('02T10:00:00'), durationMs: 1_200, gateId: 'other' as GateId }),
      call('req_4', { startedAt: at('01T10:00:00'), durationMs: 4, accountId: stranger }),
    ])
    const ask = async (query: string) =>
      await sendForJson({ url: `/v1/analytics/latency?${NOVEMBER}${query}` })
    const { ranges, data } = (await ask('')) as {
      ranges: { fromMs: number; toMs: number | null }[]
      data: { start: string; calls: number; durationMs: number[]; firstByteMs: number[] }[]
    }
    const rangeOf = (timeMs: number) =>
      ranges.findIndex(({ fromMs, toMs }) => fromMs <= timeMs && (toMs === null || timeMs < toMs))
    expect(ranges[0]).toEqual({ fromMs: 0, toMs: 1 })
    expect(ranges.at(-1)?.toMs).toBeNull()
    expect(data.map(({ start, calls }) => [start, calls])).toEqual([
      ['2026-01-01T00:00:00.000Z', 2],
      ['2026-01-02T00:00:00.000Z', 1],
    ])
    const [first] = data
    expect(first?.durationMs).toHaveLength(ranges.length)
    expect(first?.durationMs[rangeOf(4)]).toBe(1)
    expect(first?.durationMs[rangeOf(1_200)]).toBe(1)
    expect(first?.firstByteMs[rangeOf(1)]).toBe(1)
    expect(first?.firstByteMs.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(await ask('&gate=other&interval=all')).toMatchObject({
      interval: 'all',
      data: [{ calls: 1 }],
    })
    expect(await ask('&key=key_of_nobody')).toMatchObject({ data: [] })
  })
})
