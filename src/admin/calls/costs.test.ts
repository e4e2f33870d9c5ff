import { beforeEach, describe, expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { readSums } from '../../store/usage/read-sums.fixture.ts'
import { stranger, useControlPlane } from '../control-plane.fixture.ts'
import { loggedCall as call } from './call-log.fixture.ts'

const { check, current, sendForJson } = useControlPlane()
const wrong = { nanoUsd: 99_000, status: 'estimated', source: 'test@1' } as const

describe('costs computed again', () => {
  beforeEach(() =>
    current().store.calls.insertMany([
      call('req_1'),
      call('req_2', { cost: wrong }),
      call('req_3', { cost: { nanoUsd: 5_000, status: 'exact', source: 'test@0' } }),
      call('req_4', { cost: { nanoUsd: null, status: 'unknown', source: null } }),
      call('req_5', { accountId: stranger, cost: wrong }),
    ]),
  )
  const verify = (body: object) => sendForJson({ method: 'POST', url: '/v1/costs/verify', body })
  const all = { fromMs: 0, toMs: Date.parse('2027-01-01'), interval: 'all', groupBy: null } as const

  check([
    ['an unknown field', 'POST /v1/costs/verify', { repair: true }, 400, 'repair'],
    ['an invalid time', 'POST /v1/costs/verify', { from: 'x' }, 400, 'from: must be a time'],
    ['an invalid cursor', 'POST /v1/costs/verify', { cursor: 'x' }, 400, 'cursor: is not a cursor'],
  ])

  test('differences are reported, and nothing changes without a fix', async () => {
    const expected = {
      source: 'test@1',
      checked: 4,
      fixed: 0,
      incomparable: [{ source: 'test@0', calls: 1 }],
      models: [{ target: 'openai/gpt-5', calls: 2, storedUsd: 0.000099, computedUsd: 0.000006 }],
      differences: [
        {
          id: 'req_4',
          stored: { usd: null, status: 'unknown' },
          computed: { usd: 0.000003, status: 'exact' },
        },
        {
          id: 'req_2',
          stored: { usd: 0.000099, status: 'estimated' },
          computed: { usd: 0.000003 },
        },
      ],
      nextCursor: null,
    }
    expect(await verify({})).toMatchObject(expected)
    expect(await verify({})).toMatchObject(expected)
    expect(await verify({ to: '2020-01-01' })).toMatchObject({ checked: 0, differences: [] })
  })

  test('a fix corrects the rows and the sums, of the own account only', async () => {
    expect((await readSums(current().store.usage, DEFAULT_ACCOUNT, all))[0]?.costNanoUsd).toBe(
      (3 + 99 + 5) * 1_000,
    )
    expect(await verify({ fix: true })).toMatchObject({ fixed: 2 })
    expect(await verify({ fix: true })).toMatchObject({ fixed: 0, differences: [] })
    expect(await sendForJson({ url: '/v1/logs/req_2' })).toMatchObject({
      cost: { usd: 0.000003, status: 'exact', source: 'test@1' },
    })
    const [sum] = await readSums(current().store.usage, DEFAULT_ACCOUNT, all)
    expect(sum).toMatchObject({
      calls: 4,
      costNanoUsd: (3 + 3 + 5 + 3) * 1_000,
      costEstimated: 0,
      costUnknown: 0,
    })
    expect((await readSums(current().store.usage, stranger, all))[0]?.costNanoUsd).toBe(99_000)
    const { data } = await sendForJson({ url: '/v1/audit-log?action=costs.correct' })
    expect(data).toMatchObject([
      {
        resourceId: '2026-01-01',
        before: { calls: 2, usd: 0.000099 },
        after: { calls: 2, usd: 0.000006 },
      },
    ])
  })

  test('a request fixes one day, newest first, and the last one raises the limits', async () => {
    const startedAt = Date.parse('2026-01-03T23:59:59Z')
    await current().store.calls.insertMany([call('req_6', { cost: wrong, startedAt })])
    const first = await verify({ fix: true })
    expect(first).toMatchObject({ checked: 1, fixed: 1 })
    expect(current().raised).toEqual([])
    const second = await verify({ fix: true, cursor: first.nextCursor })
    expect(second).toMatchObject({ checked: 4, fixed: 2 })
    expect(await verify({ fix: true, cursor: second.nextCursor })).toMatchObject({
      ...{ checked: 0, fixed: 0, nextCursor: null },
    })
    expect(current().raised).toEqual([DEFAULT_ACCOUNT])
  })

  test('only calls of a model are checked, and wrong entries are named in one form', async () => {
    expect(await verify({ target: 'openai/none' })).toMatchObject({ checked: 0 })
    expect(await verify({ target: 'openai/gpt-5' })).toMatchObject({ checked: 4 })
    expect(await verify({ wrong: ['overlay:7d89ce077233'] })).toMatchObject({ checked: 4 })
    expect(await verify({ wrong: ['reported'] })).toMatchObject({ error: 'invalid_request' })
  })
})
