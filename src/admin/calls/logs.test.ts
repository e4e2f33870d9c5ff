import { beforeEach, describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import type { CallRecord } from '../../core/call.ts'
import { callsUnderWay } from '../../core/calls-under-way.ts'
import { ERROR_KINDS, ERROR_POLICY } from '../../core/errors.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import type { CallFilter } from '../../store/calls/call-pages.ts'
import { stranger, strangerKey, useControlPlane } from '../control-plane.fixture.ts'
import { loggedCall as call } from './call-log.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

beforeEach(() => current().attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'administrators' }))

async function listIds(query: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: unknown = ''
  while (typeof cursor === 'string') {
    const page = await sendForJson({
      url: `/v1/logs?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    })
    ids.push(...(page.data as { id: string }[]).map(({ id }) => id))
    cursor = page.nextCursor
  }
  return ids
}

describe('logs', () => {
  beforeEach(() =>
    current().store.calls.insertMany([
      call('req_1'),
      call('req_2'),
      call('req_3', { accountId: stranger }),
    ]),
  )

  check([
    {
      name: 'a call',
      method: 'GET',
      url: '/v1/logs/req_1',
      status: 200,
      holds: [
        '"startedAt":"2026-01-01T00:00:00.123Z"',
        '"inputTokens":1',
        '"gateId":"demo"',
        '"cost":{"usd":0.000003,"status":"exact","source":"test@1","parts":[',
        '{"kind":"output","count":2,"usdPerMillion":1,"usd":0.000002}',
        '"attemptDetails":null',
      ],
      hides: ['accountId'],
    },
    ['a call of another account', 'GET /v1/logs/req_3', undefined, 404, '"error":"not_found"'],
    ['a call that is not there', 'GET /v1/logs/req_9', undefined, 404],
    ['a call with a NUL', 'GET /v1/logs/%00', undefined, 404],
    ['a call with SQL', "GET /v1/logs/'%20OR%201=1--", undefined, 404],
    {
      name: 'the list',
      method: 'GET',
      url: '/v1/logs',
      status: 200,
      holds: ['req_1', 'req_2'],
      hides: ['req_3'],
    },
    [
      'an unknown filter',
      'GET /v1/logs?model=x',
      undefined,
      400,
      'model: is not a known parameter',
    ],
    ['an invalid time', 'GET /v1/logs?from=yesterday', undefined, 400, 'from: must be a time'],
    [
      'an invalid duration',
      'GET /v1/logs?durationFromMs=1e3',
      undefined,
      400,
      'durationFromMs: must be',
    ],
    ['a longest duration', 'GET /v1/logs?durationToMs=9999999999', undefined, 200, '"data":['],
    [
      'a longer one',
      'GET /v1/logs?durationToMs=10000000000',
      undefined,
      400,
      'durationToMs: must be',
    ],
    [
      'reversed durations',
      'GET /v1/logs?durationFromMs=5&durationToMs=5',
      undefined,
      400,
      'durationToMs: must be more than durationFromMs',
    ],
    ['an invalid day', 'GET /v1/logs?to=2026-13-41', undefined, 400, 'to: must be a time'],
    ['a day of no month', 'GET /v1/logs?to=2026-02-30', undefined, 400, 'to: must be a time'],
    [
      'a moment of such a day',
      'GET /v1/logs?from=2026-11-31T00:00:00Z',
      undefined,
      400,
      'from: must be a time',
    ],
    ['the day of a leap year', 'GET /v1/logs?from=2024-02-29', undefined, 200, 'data'],
    [
      'a reversed range',
      'GET /v1/logs?from=2026-02-01&to=2026-01-01',
      undefined,
      400,
      'to: must be later',
    ],
    [
      'an invalid status',
      'GET /v1/logs?status=2xx',
      undefined,
      400,
      'status: must be an HTTP status',
    ],
    [
      'an invalid class of status',
      'GET /v1/logs?statusClass=6xx',
      undefined,
      400,
      'statusClass: must be',
    ],
    ['an invalid outcome', 'GET /v1/logs?outcome=bad', undefined, 400, 'outcome: must be'],
    ['a code that is none', 'GET /v1/logs?refused=A-B', undefined, 400, 'refused: must be any'],
    ['an invalid stream', 'GET /v1/logs?stream=yes', undefined, 400, 'stream: must be'],
    [
      'an invalid error kind',
      'GET /v1/logs?errorKind=A-B',
      undefined,
      400,
      'errorKind: must be a kind',
    ],
    [
      'a gate given twice',
      'GET /v1/logs?gate=a&gate=b',
      undefined,
      400,
      'gate: must be given once',
    ],
    [
      'a gate of control characters',
      'GET /v1/logs?gate=%00',
      undefined,
      400,
      'gate: must be 1 to 300',
    ],
    ['an export without a format', 'GET /v1/logs/export', undefined, 400, 'format: is required'],
    [
      'an export in another format',
      'GET /v1/logs/export?format=xml',
      undefined,
      400,
      'format: must be',
    ],
    [
      'an export with a cursor',
      'GET /v1/logs/export?format=csv&cursor=x',
      undefined,
      400,
      'cursor: is not',
    ],
  ])

  test('pages follow one another', async () => {
    const first = await sendForJson({ url: '/v1/logs?limit=1' })
    const second = await sendForJson({ url: `/v1/logs?limit=1&cursor=${first.nextCursor}` })
    expect(first.data).toMatchObject([{ id: 'req_2' }])
    expect(second).toMatchObject({ data: [{ id: 'req_1' }], nextCursor: null })
  })

  test('new calls during paging shift nothing: no call comes twice, none is missed', async () => {
    const at = (index: number) => Date.parse('2026-01-01T00:00:00Z') + index
    const early = Array.from({ length: 40 }, (_, index) =>
      call(`req_a${index}`, { startedAt: at(index) }),
    )
    await current().store.calls.insertMany(early)
    const seen: string[] = []
    let cursor: unknown = ''
    for (let page = 0; typeof cursor === 'string'; page += 1) {
      const answer = await sendForJson({
        url: `/v1/logs?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`,
      })
      seen.push(...(answer.data as { id: string }[]).map(({ id }) => id))
      cursor = answer.nextCursor
      await current().store.calls.insertMany([
        call(`req_b${page}`, { startedAt: at(1000 + page) }),
        call(`req_c${page}`, { startedAt: at(0) - 1000 + page }),
      ])
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(early.map(({ id }) => id as string)))
  })

  test('the parts of a cost are null if its price is no longer known', async () => {
    const cost = { nanoUsd: 3_000, status: 'exact', source: 'older@1' } as const
    await current().store.calls.insertMany([call('req_5', { cost })])
    expect(await sendForJson({ url: '/v1/logs/req_5' })).toMatchObject({
      cost: { usd: 3e-6, parts: null },
    })
  })

  test('every kind of error of a call is in the contract', () => {
    expect<string[]>([...ERROR_KINDS].sort()).toEqual(Object.keys(ERROR_POLICY).sort())
  })

  test('a call shows the unknown gate id that it sent', async () => {
    const sentGateId = 'gpt-4o%20mini…'
    await current().store.calls.insertMany([
      call('req_6', { gateId: '(unknown)' as GateId, sentGateId }),
    ])
    expect(await sendForJson({ url: '/v1/logs/req_6' })).toMatchObject({
      gateId: '(unknown)',
      sentGateId,
    })
    expect(await sendForJson({ url: '/v1/logs/req_1' })).toMatchObject({
      gateId: 'demo',
      sentGateId: null,
    })
  })

  test('a call shows its attempts if it needed several', async () => {
    const attemptDetails = [
      { target: 'groq/a', status: 429, afterMs: 1, durationMs: 20 },
      { target: 'openai/b', status: null, afterMs: 22, durationMs: 5 },
    ]
    await current().store.calls.insertMany([call('req_4', { attemptDetails, attempts: 2 })])
    expect(await sendForJson({ url: '/v1/logs/req_4' })).toMatchObject({
      attempts: 2,
      attemptDetails,
    })
  })
})

const anyCall: fc.Arbitrary<Partial<CallRecord>> = fc.record({
  accountId: fc.constantFrom(DEFAULT_ACCOUNT, stranger),
  keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
  gateId: fc.constantFrom('a', 'b').map((id) => id as GateId),
  target: fc.constantFrom(null, 'p/x', 'p/y'),
  stream: fc.boolean(),
  outcome: fc.constantFrom('succeeded', 'failed', 'cancelled'),
  startedAt: fc.integer({ min: 1_000, max: 1_010 }),
  durationMs: fc.integer({ min: 5, max: 12 }),
  firstByteMs: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
  refusalCode: fc.constantFrom(undefined, 'price_unknown', 'invalid_value'),
})
const anyFilter: fc.Arbitrary<CallFilter> = fc.record(
  {
    fromMs: fc.integer({ min: 998, max: 1_005 }),
    toMs: fc.integer({ min: 1_006, max: 1_012 }),
    gateId: fc.constantFrom('a', 'b', 'c'),
    keyId: fc.constantFrom('key_1', 'key_2'),
    target: fc.constantFrom('p/x', 'p/y'),
    status: fc.constantFrom(200, 502),
    statusClass: fc.constantFrom(2, 4, 5),
    outcome: fc.constantFrom('succeeded', 'failed', 'cancelled'),
    errorKind: fc.constantFrom('upstream_error', 'rate_limited'),
    refused: fc.constantFrom('any', 'price_unknown'),
    stream: fc.boolean(),
    durationFromMs: fc.integer({ min: 0, max: 8 }),
    durationToMs: fc.integer({ min: 9, max: 13 }),
    firstByteFromMs: fc.integer({ min: 0, max: 2 }),
    firstByteToMs: fc.integer({ min: 3, max: 6 }),
  },
  { requiredKeys: [] },
)
const PARAMETERS = { fromMs: 'from', toMs: 'to', gateId: 'gate', keyId: 'key' } as const

/** No range holds a call that was not measured. */
function isWithin(value: number | null, from: number | undefined, to: number | undefined): boolean {
  if (from === undefined && to === undefined) return true
  return value !== null && value >= (from ?? 0) && value < (to ?? Number.POSITIVE_INFINITY)
}

function isRefused({ refusalCode }: CallRecord, asked: string | undefined): boolean {
  return (
    asked === undefined || (asked === 'any' ? refusalCode !== undefined : refusalCode === asked)
  )
}

test('a part of a target’s name finds it, and each character stands for itself', async () => {
  const targets = ['openai/gpt-5', 'groq/100%_done', 'groq/100x-done', 'owned/GPT!', null]
  await current().store.calls.insertMany(
    targets.map((target, index) => call(`req_${index}`, { target, startedAt: index + 1 })),
  )
  const find = (part: string) => listIds(`targetPart=${encodeURIComponent(part)}`)
  expect(await find('gpt')).toEqual(['req_3', 'req_0'])
  expect(await find('GPT-5')).toEqual(['req_0'])
  expect(await find('%_')).toEqual(['req_1'])
  expect(await find('0_d')).toEqual([])
  expect(await find('!')).toEqual(['req_3'])
  expect(await find('%')).toEqual(['req_1'])
  expect((await send({ url: `/v1/logs?targetPart=${'x'.repeat(301)}` })).status).toBe(400)
})

test('calls without a known price are listed', async () => {
  const cost = { nanoUsd: 5, status: 'estimated', source: 'unpriced' } as const
  await current().store.calls.insertMany([
    call('req_1', { cost, startedAt: 1 }),
    call('req_2', { cost: { ...cost, source: 'prices@1' }, startedAt: 2 }),
  ])
  expect(await listIds('unpriced=true')).toEqual(['req_1'])
  expect(await listIds('unpriced=false')).toEqual(['req_2'])
  expect((await send({ url: '/v1/logs?unpriced=yes' })).status).toBe(400)
})

test('any filters give the calls that pass all of them, whole and in order, of the own account only', async () => {
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyCall, { maxLength: 40 }), anyFilter, async (changes, filter) => {
      round += 1
      const offset = round * 1_000_000
      const calls = changes.map((change, index) => {
        const hasFailed = change.outcome === 'failed'
        return call(`req_${round}_${String(index).padStart(2, '0')}`, {
          ...change,
          startedAt: offset + (change.startedAt ?? 0),
          status: hasFailed ? 502 : 200,
          errorKind: hasFailed ? 'upstream_error' : null,
          refusalCode: hasFailed ? change.refusalCode : undefined,
        })
      })
      await current().store.calls.insertMany(calls)
      const from = offset + (filter.fromMs ?? 0)
      const to = offset + (filter.toMs ?? 999_999)
      const expected = calls
        .filter(
          (each) =>
            each.accountId === DEFAULT_ACCOUNT &&
            each.startedAt >= from &&
            each.startedAt < to &&
            (filter.statusClass === undefined ||
              filter.statusClass === Math.floor(each.status / 100)) &&
            isRefused(each, filter.refused) &&
            isWithin(each.durationMs, filter.durationFromMs, filter.durationToMs) &&
            isWithin(each.firstByteMs, filter.firstByteFromMs, filter.firstByteToMs) &&
            (
              ['gateId', 'keyId', 'target', 'status', 'outcome', 'errorKind', 'stream'] as const
            ).every((name) => filter[name] === undefined || filter[name] === each[name]),
        )
        .toSorted(
          (left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1),
        )
      const { fromMs: _from, toMs: _to, ...rest } = filter
      const query = new URLSearchParams({
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      })
      for (const [name, value] of Object.entries(rest)) {
        const text = name === 'statusClass' ? `${value}xx` : String(value)
        query.set(PARAMETERS[name as keyof typeof PARAMETERS] ?? name, text)
      }
      const ids = expected.map(({ id }) => id as string)
      expect(await listIds(`limit=3&${query}`)).toEqual(ids)
      const exported = await (await send({ url: `/v1/logs/export?format=ndjson&${query}` })).text()
      const lines = exported.split('\n').filter((line) => line !== '')
      expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids)
    }),
    { numRuns: 60 },
  )
})

test('rows, the call and both exports have the key’s name, and why attempts failed', async () => {
  const { store, keys } = current()
  const { record } = await keys.create({
    accountId: DEFAULT_ACCOUNT,
    name: 'Team',
    expiresAt: null,
  })
  const failure = { kind: 'upstream_error', code: 'connect_failed' } as const
  const attempt = { target: 'openai/gpt-5', status: null, afterMs: 0, durationMs: 3 }
  await store.calls.insertMany([
    call('req_1', {
      ...{ keyId: record.id, attemptDetails: [{ ...attempt, failure }, attempt] },
      refusedBy: 'bud_1',
      ...{ user: 'user_1', session: 's1', agent: 'a1', parentAgent: 'a0', tags: 't1 t2' },
    }),
    call('req_2', { keyId: 'key_gone' as KeyId, startedAt: 1 }),
  ])
  const told = {
    ...{ id: 'req_1', keyId: record.id, keyName: 'Team', refusedBy: 'bud_1' },
    ...{ user: 'user_1', session: 's1', agent: 'a1', parentAgent: 'a0', tags: 't1 t2' },
    attemptDetails: [
      { ...attempt, errorKind: 'upstream_error', errorCode: 'connect_failed' },
      { ...attempt, errorKind: null, errorCode: null },
    ],
  }
  expect((await sendForJson({ url: '/v1/logs' })).data).toMatchObject([told, { keyName: null }])
  expect(await sendForJson({ url: '/v1/logs/req_1' })).toMatchObject(told)
  const ndjson = await (await send({ url: '/v1/logs/export?format=ndjson' })).text()
  expect(JSON.parse(ndjson.split('\n')[0] ?? '')).toMatchObject(told)
  const [head, first] = (await (await send({ url: '/v1/logs/export?format=csv' })).text()).split(
    '\r\n',
  )
  expect(head).toEndWith(
    ',refusedBy,keyName,user,session,agent,parentAgent,tags,userName,tagNames,steeredBy',
  )
  expect(first).toEndWith(',bud_1,Team,user_1,s1,a1,a0,t1 t2,,t1 t2,')
})

describe('an export', () => {
  test('as CSV has a header, and no cell that a spreadsheet would run or split', async () => {
    await current().store.calls.insertMany([
      call('req_1', { gateId: '=HYPERLINK("http://x")' as GateId, target: '+1,2' }),
      call('req_0', {
        gateId: '  @sum' as GateId,
        target: 'a\r\nb',
        usage: null,
        firstByteMs: null,
      }),
      call('req_2', { gateId: '(unknown)' as GateId, refusals: 1, sentGateId: '-gpt-4o%20…' }),
      call('req_9', { accountId: stranger }),
    ])
    const response = await send({ url: '/v1/logs/export?format=csv' })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toContain('gatehouse-logs.csv')
    const text = await response.text()
    expect(text).toStartWith('id,startedAt,gateId,keyId,')
    expect(text).toContain(`,"'=HYPERLINK(""http://x"")",`)
    expect(text).toContain(`,"'+1,2",`)
    expect(text).toContain(`,"'  @sum",`)
    expect(text).toContain('"a\r\nb"')
    expect(text).toContain(',0.000003000,exact,test@1,,,,,,,,,,,,,\r\n')
    expect(text).toContain(`,exact,test@1,1,"'-gpt-4o%20…",,,,,,,,,,,\r\n`)
    expect(text).not.toContain('req_9')
    expect(text).toEndWith('\r\n')
  })

  test('without calls is a header as CSV, and empty as NDJSON', async () => {
    expect(await (await send({ url: '/v1/logs/export?format=ndjson' })).text()).toBe('')
    expect(await (await send({ url: '/v1/logs/export?format=csv' })).text()).toMatch(
      /^id,[^\n]*\r\n$/,
    )
  })

  test('spans many pages, and stops reading when its reader leaves', async () => {
    await current().store.calls.insertMany(
      Array.from({ length: 1100 }, (_, index) => call(`req_${index}`)),
    )
    const text = await (await send({ url: '/v1/logs/export?format=ndjson' })).text()
    expect(text.trimEnd().split('\n')).toHaveLength(1100)
    const left = await send({ url: '/v1/logs/export?format=ndjson' })
    await left.body?.cancel()
  })

  test('does not begin while ten of the account run, and begins when one ends', async () => {
    const { store } = current()
    await store.calls.insertMany(Array.from({ length: 1_100 }, (_, index) => call(`req_${index}`)))
    const ask = () => send({ url: '/v1/logs/export?format=ndjson' })
    const readers = []
    for (let started = 0; started < 10; started += 1) {
      const reader = (await ask()).body?.getReader()
      await reader?.read()
      readers.push(reader)
    }
    const refused = await ask()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    const ofOther = await send({
      url: '/v1/logs/export?format=ndjson',
      headers: { authorization: `Bearer ${strangerKey}` },
    })
    expect(ofOther.status).toBe(200)
    await ofOther.text()
    const [first] = readers
    while ((await first?.read())?.done === false);
    const unread = await ask()
    expect([unread.status, (await ask()).status]).toEqual([200, 429])
    await unread.body?.cancel()
    for (const reader of readers) await reader?.cancel()
  })

  test('breaks when the account hides people who were seen at the beginning', async () => {
    const { attribution, store } = current()
    await store.calls.insertMany(
      Array.from({ length: 1_100 }, (_, index) => call(`req_${index}`, { user: 'user_1' })),
    )
    const answer = await send({ url: '/v1/logs/export?format=ndjson&user=user_1' })
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await attribution.change(DEFAULT_ACCOUNT, { peopleFigures: 'hidden' })
    const readAll = async () => {
      while ((await reader?.read())?.done === false);
    }
    await expect(readAll()).rejects.toThrow()
  })

  test('rests for calls between its pages while one is under way', async () => {
    await current().store.calls.insertMany(
      Array.from({ length: 550 }, (_, index) => call(`req_${index}`)),
    )
    const sleep = spyOn(Bun, 'sleep')
    // Each look at the clock is a millisecond after the one before, on any machine.
    let nowMs = 0
    const clock = spyOn(performance, 'now').mockImplementation(() => (nowMs += 1))
    callsUnderWay.begin(Number.NEGATIVE_INFINITY)
    try {
      const text = await (await send({ url: '/v1/logs/export?format=ndjson' })).text()
      expect(text.trimEnd().split('\n')).toHaveLength(550)
      expect(sleep.mock.calls.length).toBeGreaterThanOrEqual(5)
    } finally {
      callsUnderWay.end()
      clock.mockRestore()
      sleep.mockRestore()
    }
  })
})
