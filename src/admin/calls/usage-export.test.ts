import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import type { CostPart } from '../../core/cost.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import { testKey, useControlPlane } from '../control-plane.fixture.ts'
import { loggedCall as call } from './call-log.fixture.ts'
import { FOCUS_HEADINGS, FocusHour } from './focus-rows.ts'

const { check, current, send, sendForJson } = useControlPlane()

const at = (time: string) => Date.parse(`2026-01-${time}Z`)
const RANGE = 'from=2026-01-01&to=2026-01-03'

async function readRows(): Promise<Record<string, string>[]> {
  const answer = await send({ url: `/v1/usage/export?format=focus&${RANGE}` })
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [head = '', ...lines] = (await answer.text()).trimEnd().split('\r\n')
  const headings = head.split(',')
  return lines.map((line) => {
    const cells = [...line.matchAll(/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g)].map(([, cell]) => cell)
    return Object.fromEntries(headings.map((heading, index) => [heading, cells[index] ?? '']))
  })
}

test('charges are divided by hour, gate, model, kind of token and tags', async () => {
  const { store, attribution } = current()
  const tag = attribution.hash(DEFAULT_ACCOUNT, 'tag', 'repo:gatehouse') ?? ''
  await store.callerNames.write(
    [{ accountId: DEFAULT_ACCOUNT, kind: 'tag', hash: tag, name: 'repo:gatehouse' }],
    Date.now(),
  )
  await store.calls.insertMany([
    call('req_1', { startedAt: at('01T10:00:00'), tags: tag }),
    call('req_2', { startedAt: at('01T10:59:59'), tags: tag }),
    call('req_3', { startedAt: at('01T11:00:00') }),
    call('req_4', {
      startedAt: at('01T11:10:00'),
      gateId: 'other' as GateId,
      cost: { nanoUsd: 12_345, status: 'exact', source: 'reported' },
    }),
    call('req_5', { startedAt: at('01T11:20:00'), refusals: 4, usage: null, status: 429 }),
    call('req_6', { startedAt: at('04T11:20:00') }),
  ])
  const rows = await readRows()
  expect(
    rows.map((row) => [
      row.ChargePeriodStart,
      row.x_Gate,
      row.x_TokenType,
      row.ConsumedQuantity,
      row.EffectiveCost,
      row.Tags,
    ]),
  ).toEqual(EXPECTED)
  const { data } = await sendForJson({ url: `/v1/analytics?${RANGE}&interval=all` })
  const usd = rows.reduce((sum, row) => sum + Number(row.EffectiveCost), 0)
  expect(usd).toBeCloseTo((data as { cost: { usd: number } }[])[0]?.cost.usd ?? 0, 12)
  expect(rows[0]).toMatchObject({
    ...{ ChargeCategory: 'Usage', ServiceCategory: 'AI and Machine Learning' },
    ...{ ConsumedUnit: 'Tokens', BillingCurrency: 'USD', BillingAccountId: DEFAULT_ACCOUNT },
    ...{ BillingPeriodStart: '2026-01-01T00:00:00Z', BillingPeriodEnd: '2026-02-01T00:00:00Z' },
    // FOCUS has a price id beside each SKU, and no sub account where an account has none.
    ...{ SkuId: 'openai/gpt-5/input', SkuPriceId: 'openai/gpt-5/input' },
    ...{ SubAccountId: '', SubAccountName: '' },
  })
})

const TAGS = '"{""repo"":""gatehouse""}"'
const EXPECTED = [
  ['2026-01-01T10:00:00Z', 'demo', 'input', '2', '0.000002000', TAGS],
  ['2026-01-01T10:00:00Z', 'demo', 'output', '4', '0.000004000', TAGS],
  ['2026-01-01T11:00:00Z', 'demo', 'input', '1', '0.000001000', ''],
  ['2026-01-01T11:00:00Z', 'demo', 'output', '2', '0.000002000', ''],
  ['2026-01-01T11:00:00Z', 'other', 'total', '3', '0.000012345', ''],
]

test('the costs of the rows add up exactly to the costs of the calls', () => {
  const part: fc.Arbitrary<CostPart> = fc.record({
    kind: fc.constantFrom(
      'input',
      'cachedInput',
      'cacheWriteHour',
      'output',
      'reasoning',
      'request',
    ),
    count: fc.nat({ max: 1_000_000 }),
    usdPerMillion: fc.nat({ max: 100_000 }).map((price) => price / 997),
  })
  const divided = fc.record({ parts: fc.option(fc.array(part, { maxLength: 5 })), other: fc.nat() })
  fc.assert(
    fc.property(fc.array(divided, { maxLength: 20 }), fc.boolean(), (costs, isOther) => {
      const hour = new FocusHour()
      let total = 0n
      for (const [index, { parts, other }] of costs.entries()) {
        const sum = (parts ?? []).reduce(
          (usd, { count, usdPerMillion }) => usd + (count * usdPerMillion) / 1e6,
          0,
        )
        const nanoUsd = isOther ? other : Math.round(sum * 1e9)
        total += BigInt(nanoUsd)
        const cost = { nanoUsd, status: 'exact' as const, source: 'list' }
        hour.add(call(`req_${index}`, { cost }), parts ?? undefined)
      }
      const context = {
        startsAtMs: at('01T10:00:00'),
        accountId: 'acct_1',
        accountName: 'Example',
        tagOf: () => null,
        providerNameOf: (id: string) => id,
      }
      const place = FOCUS_HEADINGS.indexOf('EffectiveCost')
      let found = 0n
      for (const row of hour.rows(context)) {
        const cell = String(row[place])
        expect(cell).toMatch(/^\d+\.\d{9}$/)
        found += BigInt(cell.replace('.', ''))
      }
      expect(found).toBe(total)
    }),
  )
})

describe('rows of FOCUS 1.2', () => {
  const MANDATORY = [
    ...['BilledCost', 'BillingAccountId', 'BillingAccountName', 'BillingCurrency'],
    ...['BillingPeriodEnd', 'BillingPeriodStart', 'ChargeCategory', 'ChargeClass'],
    ...['ChargeDescription', 'ChargePeriodEnd', 'ChargePeriodStart', 'ContractedCost'],
    ...['EffectiveCost', 'InvoiceIssuerName', 'ListCost', 'PricingQuantity', 'PricingUnit'],
    ...['ProviderName', 'PublisherName', 'ServiceCategory', 'ServiceName'],
  ]

  test('have each mandatory column, and a positive quantity whatever the usage', async () => {
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
    const cost = { nanoUsd: 12_345, status: 'exact', source: 'reported' } as const
    await current().store.calls.insertMany([
      call('req_1', { startedAt: at('01T10:00:00') }),
      call('req_2', { startedAt: at('01T10:00:00'), usage, cost }),
      call('req_3', { startedAt: at('01T10:00:00'), usage, cost: { ...cost, nanoUsd: 0 } }),
    ])
    const rows = await readRows()
    expect(rows.map(({ x_TokenType }) => x_TokenType)).toEqual(['input', 'other', 'output'])
    for (const row of rows) {
      const empty = MANDATORY.filter((column) => (row[column] ?? '') === '')
      expect([empty, Number(row.ConsumedQuantity) > 0]).toEqual([['ChargeClass'], true])
    }
  })

  test('have one value for each tag: the first', async () => {
    const { store, attribution } = current()
    const names = ['repo:gatehouse', 'repo:other', 'team', 'repo', 'team:x']
    const hashes = names.map((name) => attribution.hash(DEFAULT_ACCOUNT, 'tag', name) ?? '')
    await store.callerNames.write(
      names.map((name, index) => ({
        ...({ accountId: DEFAULT_ACCOUNT, kind: 'tag', name } as const),
        hash: hashes[index] ?? '',
      })),
      Date.now(),
    )
    await store.calls.insertMany([
      call('req_1', { startedAt: at('01T10:00:00'), tags: hashes.join(' ') }),
    ])
    const [row] = await readRows()
    expect(row?.Tags).toBe('"{""repo"":""gatehouse"",""team"":true}"')
  })
})

describe('an export', () => {
  check([
    ['without a format', 'GET /v1/usage/export', undefined, 400, 'format: is required'],
    [
      'of eight thousand years',
      'GET /v1/usage/export?format=focus&to=9999-12-31&from=2026-01-01',
      undefined,
      400,
      'from: must be within ten years before to',
    ],
    ['of another format', 'GET /v1/usage/export?format=cur', undefined, 400, 'format: must be'],
  ])

  test('of hours without calls ends when its client leaves', async () => {
    const leaving = new AbortController()
    const { store, controlPlane } = current()
    const page = spyOn(store.calls, 'findPage').mockImplementation(async () => {
      leaving.abort()
      return { calls: [] }
    })
    try {
      const url = `http://gatehouse.test/v1/usage/export?format=focus&${RANGE}`
      const headers = { authorization: `Bearer ${testKey}` }
      const request = new Request(url, { headers, signal: leaving.signal })
      const answer = await controlPlane.handle(request, 'req_test' as CallId, undefined)
      await expect(answer.text()).rejects.toThrow()
      expect(page).toHaveBeenCalledTimes(1)
    } finally {
      page.mockRestore()
    }
  })

  test('of deleted calls is refused with the oldest hour', async () => {
    await current().store.usage.noteCallsDeletedBefore(at('01T09:30:00'))
    const refused = await sendForJson({ url: `/v1/usage/export?format=focus&${RANGE}` })
    expect(JSON.stringify(refused)).toContain('2026-01-01T10:00:00.000Z or later')
  })
})
