/** Quotas, budgets and tokens per minute, case by case. */
import { describe, expect, test } from 'bun:test'
import type { KeyId } from '../core/ids.ts'
import { shortageWithin } from './usage-counter.ts'
import { admitted, budgetOf, isTicket, spent, start } from './usage-limits.fixture.ts'

describe('the monthly quota', () => {
  test('refuses calls once it is used up, without a header that says when to retry', () => {
    const { admit, clock } = start({ monthlyTokens: 100 })
    admitted(admit()).settle(spent({ tokens: 100 }))
    const refusal = admit()
    expect(refusal).toMatchObject({
      kind: 'quota_exceeded',
      status: 429,
      message: "The account's monthly quota of 100 tokens is used up until 2026-12-01T00:00:00Z.",
    })
    expect(refusal).toHaveProperty('headers', undefined)
    clock.nowMs = Date.parse('2026-12-01T00:00:00.000Z')
    expect(isTicket(admit())).toBe(true)
  })

  test('refuses calls for a moment while the rest is reserved', () => {
    const { admit } = start({ monthlyTokens: 100 })
    const first = admitted(admit({ estimatedTokens: 100 }))
    expect(admit()).toMatchObject({ kind: 'rate_limited', headers: { 'retry-after': '1' } })
    first.settle(spent({ tokens: 3 }))
    expect(isTicket(admit())).toBe(true)
  })

  test('counts a call that began last month for last month, whenever it ends', () => {
    const { admit, clock, quota } = start({ monthlyTokens: 100 })
    const ticket = admitted(admit())
    clock.nowMs += 600_000
    expect(quota()).toMatchObject({ tokens: 0, reservedTokens: 0 })
    ticket.settle(spent({ tokens: 99 }))
    expect(quota()).toMatchObject({ tokens: 0, reservedTokens: 0 })
  })

  test('does not count calls that the account paid for itself, or calls without known usage', () => {
    const { admit, quota } = start({ monthlyTokens: 100 })
    admitted(admit()).settle(spent({ tokens: 70, countsForQuota: false }))
    admitted(admit()).settle(spent({ tokens: null }))
    expect(quota()).toMatchObject({ tokens: 0, reservedTokens: 0 })
  })

  test('counts known spend, and shows the number of unpriced calls', () => {
    const { admit, quota } = start({ monthlySpendUsd: 0.5 })
    admitted(admit()).settle(spent({ tokens: 10 }))
    expect(quota()).toMatchObject({ tokens: 10, nanoUsd: 0, unpricedCalls: 1 })
    admitted(admit()).settle(spent({ tokens: 10, nanoUsd: 499_999_999 }))
    const last = admitted(admit({ estimatedTokens: 0 }))
    last.settle(spent({ tokens: 1, nanoUsd: 1 }))
    expect(admit()).toMatchObject({
      kind: 'quota_exceeded',
      message: expect.stringContaining('$0.5'),
      spend: { period: 'month', usedNanoUsd: 500_000_000, limitNanoUsd: 500_000_000 },
    })
  })
})

describe('for counters shared with other nodes', () => {
  const call = (startedAtMs: number) => ({ gateId: 'gate', startedAtMs, estimatedTokens: 1 })

  test.each([
    [{ tokens: 99 }, undefined],
    [{ tokens: 100 }, 'exhausted'],
    [{ tokens: 60, reservedTokens: 39 }, undefined],
    [{ tokens: 60, reservedTokens: 40 }, 'reserved'],
    [{ nanoUsd: 499_999_999 }, undefined],
    [{ nanoUsd: 500_000_000 }, 'exhausted'],
    [{ nanoUsd: 300_000_000, reservedNanoUsd: 199_999_999 }, undefined],
    [{ nanoUsd: 300_000_000, reservedNanoUsd: 200_000_000 }, 'reserved'],
  ] as const)('a quota with %j used has shortage %s', (used, shortage) => {
    const { caller, usage, clock } = start({ monthlyTokens: 100, monthlySpendUsd: 0.5 })
    const quota = usage.quotaWindowFor(caller, call(clock.nowMs))
    expect(quota.limits.refuseAt).toEqual({ tokens: 100, nanoUsd: 500_000_000 })
    expect(shortageWithin(quota.limits.refuseAt, Object.assign(quota.window, used))).toBe(
      shortage as never,
    )
  })

  test('a call of a past period counts for that period, as its row in the ledger does', () => {
    const { caller, usage, clock } = start({})
    usage.putBudget(budgetOf({ period: 'day' }))
    const windowAt = (startedAtMs: number) => {
      const [budget, ...others] = usage.budgetWindowsFor(caller, call(startedAtMs))
      expect(others).toEqual([])
      return budget?.window
    }
    const today = windowAt(clock.nowMs)
    expect(today).toBeDefined()
    expect(windowAt(clock.nowMs + 86_400_000)).not.toBe(today)
    expect(windowAt(clock.nowMs)).toBe(today)
  })
})

describe('tokens per minute', () => {
  test('are charged by the estimate, shown in headers, and corrected to the real usage', () => {
    const { admit } = start({ tokensPerMinute: 600 })
    const ticket = admitted(admit({ estimatedTokens: 500 }))
    expect(ticket.headers).toEqual({
      'x-ratelimit-limit-tokens': '600',
      'x-ratelimit-remaining-tokens': '100',
      'x-ratelimit-reset-tokens': '50s',
    })
    expect(admit({ estimatedTokens: 101 })).toMatchObject({
      kind: 'rate_limited',
      message: expect.stringContaining('tokens per minute'),
      headers: {
        'retry-after': '1',
        'retry-after-ms': '100',
        'x-ratelimit-remaining-tokens': '100',
      },
    })
    ticket.settle(spent({ tokens: 20 }))
    expect(admitted(admit({ estimatedTokens: 80 })).headers['x-ratelimit-remaining-tokens']).toBe(
      '500',
    )
  })

  test('set aside what calls without a cap usually write', () => {
    const { admit } = start({ tokensPerMinute: 1000 })
    const calls = Array.from({ length: 50 }, () => admit({ estimatedTokens: 20, usualTokens: 400 }))
    expect(calls.filter(isTicket)).toHaveLength(2)
    expect(calls.at(-1)).toMatchObject({
      kind: 'rate_limited',
      message:
        'Rate limit reached for tokens per minute: this key or token is allowed 1000, and this call may use 420. Please try again in 15.6s.',
    })
  })

  describe('in debt', () => {
    /** A key that has used this many tokens beyond its minute's 600. */
    function owing(tokens: number) {
      const scene = start({ tokensPerMinute: 600 })
      admitted(scene.admit({ estimatedTokens: 0 })).settle(spent({ tokens: 600 + tokens }))
      return scene
    }

    test('one call is admitted at a time', () => {
      const { admit, clock } = owing(100)
      const first = admitted(admit({ estimatedTokens: 50 }))
      expect(admit({ estimatedTokens: 1 })).toMatchObject({
        kind: 'rate_limited',
        message:
          'Rate limit reached for tokens per minute: this key or token is allowed 600, has used 150 more, and may make one call at a time until they are paid. Please try again in 1s.',
        headers: { 'retry-after': '1', 'x-ratelimit-remaining-tokens': '0' },
      })
      first.settle(spent({ tokens: 50, endedAtMs: clock.nowMs }))
      expect(isTicket(admit({ estimatedTokens: 50 }))).toBe(true)
    })

    test('calls run beside each other again once it is paid', () => {
      const { admit, clock } = owing(100)
      clock.nowMs += 10_000 + 200
      const calls = [1, 1, 1].map((estimatedTokens) => admit({ estimatedTokens }))
      expect(calls.map(isTicket)).toEqual([true, true, false])
    })

    test('no more is owed than a minute’s limit, however much was used', () => {
      const { admit, clock } = owing(20_000)
      expect(admit({ estimatedTokens: 60 })).toMatchObject({
        headers: { 'retry-after-ms': '6000' },
      })
      clock.nowMs += 6_000
      admitted(admit({ estimatedTokens: 60 })).settle(
        spent({ tokens: 20_000, endedAtMs: clock.nowMs }),
      )
      clock.nowMs += 60_100
      expect(isTicket(admit({ estimatedTokens: 1 }))).toBe(true)
    })

    test('a call that needs a whole minute or more waits for half of one', () => {
      const { admit, clock } = owing(20_000)
      expect(admit({ estimatedTokens: 9_000 })).toMatchObject({
        headers: { 'retry-after-ms': '30000' },
      })
      clock.nowMs += 30_000
      const ticket = admitted(admit({ estimatedTokens: 9_000 }))
      // Half a minute's tokens were taken for the call, so returning them all is no gain.
      ticket.settle(spent({ tokens: 0, endedAtMs: clock.nowMs }))
      clock.nowMs += 30_000
      expect(admit({ estimatedTokens: 1 })).toMatchObject({ kind: 'rate_limited' })
      clock.nowMs += 100
      expect(isTicket(admit({ estimatedTokens: 1 }))).toBe(true)
    })
  })

  test('a call larger than a whole minute waits for a full bucket and then goes', () => {
    const { admit, clock } = start({ tokensPerMinute: 600 })
    admitted(admit({ estimatedTokens: 1 }))
    expect(admit({ estimatedTokens: 9000 })).toMatchObject({ kind: 'rate_limited' })
    clock.nowMs += 100
    expect(isTicket(admit({ estimatedTokens: 9000 }))).toBe(true)
  })

  test('keep the charge of an answer without known usage', () => {
    const { admit } = start({ tokensPerMinute: 600 })
    admitted(admit({ estimatedTokens: 600 })).settle(spent({ tokens: null }))
    expect(isTicket(admit())).toBe(false)
  })
})

describe('budgets', () => {
  test('are of one gate or one key, and name themselves in the refusal', () => {
    const { admit, usage } = start({})
    usage.putBudget(budgetOf())
    usage.putBudget(
      budgetOf({ id: 'bud_other', scope: { type: 'key', keyId: 'key_other' as KeyId } }),
    )
    admitted(admit()).settle(spent({ tokens: 100 }))
    expect(admit()).toMatchObject({
      kind: 'quota_exceeded',
      limit: 'bud_1',
      message:
        "The budget 'a budget' (bud_1) of this gate, 100 tokens a day, is used up until 2026-12-01T00:00:00Z.",
    })
    expect(isTicket(admit({ gateId: 'another' }))).toBe(true)
    usage.removeBudget('bud_1')
    expect(isTicket(admit())).toBe(true)
  })

  test('of the account, a user and tags count the calls of each, together', () => {
    const { admit, usage, clock } = start({})
    const scopes = {
      bud_account: { type: 'account' },
      bud_member: { type: 'user', userId: 'user_1' },
      bud_end: { type: 'user', userId: 'end:1', endUser: 'user_1' },
      bud_a: { type: 'tag', tag: 'a', tagId: 'aaaa' },
      bud_b: { type: 'tag', tag: 'b', tagId: 'bbbb' },
    } as const
    for (const [id, scope] of Object.entries(scopes)) usage.putBudget(budgetOf({ id, scope }))
    const use = (tokens: number, call: object) => admitted(admit(call)).settle(spent({ tokens }))
    use(1, {})
    use(2, { user: 'user_1' })
    use(4, { user: 'end:1', tags: 'bbbb' })
    use(8, { user: 'user_2', tags: 'aaaa bbbb' })
    const used = Object.keys(scopes).map((id) => usage.budgetWindow(id, clock.nowMs)?.tokens)
    expect(used).toEqual([15, 2, 4, 8, 12])
    use(90, { user: 'end:1' })
    expect(admit()).toMatchObject({ limit: 'bud_account' })
    usage.removeBudget('bud_account')
    expect(isTicket(admit({ user: 'user_1' }))).toBe(true)
    use(90, { tags: 'bbbb' })
    const refused = admit({ user: 'user_1', tags: 'aaaa bbbb' })
    expect(refused).toMatchObject({ limit: 'bud_b' })
    expect(String(refused)).toContain('of a tag of this call')
  })

  test('of a tag go on counting under the hash of a new hash key', () => {
    const { admit, usage, clock } = start({})
    const ofTag = (tagId: string) => budgetOf({ scope: { type: 'tag', tag: 'a', tagId } })
    const use = (tokens: number, tags: string) =>
      admitted(admit({ tags })).settle(spent({ tokens }))
    usage.putBudget(ofTag('aaaa'))
    use(60, 'aaaa')
    usage.putBudget(ofTag('bbbb'))
    use(7, 'aaaa')
    use(40, 'bbbb')
    expect(usage.budgetWindow('bud_1', clock.nowMs)?.tokens).toBe(100)
    expect(admit({ tags: 'bbbb' })).toMatchObject({ limit: 'bud_1' })
    expect(isTicket(admit({ tags: 'aaaa' }))).toBe(true)
    usage.removeBudget('bud_1')
    expect(isTicket(admit({ tags: 'bbbb' }))).toBe(true)
  })

  test('count the account’s own credentials too, from the budget’s creation on', () => {
    const { admit, usage, clock } = start({})
    const early = admitted(admit())
    clock.nowMs += 10
    usage.putBudget(budgetOf({ createdAt: clock.nowMs, period: 'total' }))
    const late = admitted(admit())
    early.settle(spent({ tokens: 50 }))
    late.settle(spent({ tokens: 7, countsForQuota: false }))
    expect(usage.budgetWindow('bud_1', clock.nowMs)).toMatchObject({ tokens: 7 })
  })

  test('in money tell the fullest of them to a call, and to its refusal', () => {
    const { admit, usage } = start({})
    const usd = (id: string, nanoUsd: number) =>
      budgetOf({ id, limit: { type: 'spend', nanoUsd }, period: 'month' })
    usage.putBudget(budgetOf())
    expect(admitted(admit()).spend).toBeUndefined()
    usage.putBudget(usd('bud_large', 5000))
    usage.putBudget(usd('bud_small', 1000))
    const ticket = admitted(admit())
    const ofSmall = {
      period: 'month' as const,
      limitNanoUsd: 1000,
      endsAtMs: Date.parse('2026-12-01T00:00:00.000Z'),
    }
    ticket.settle(spent({ tokens: 1, nanoUsd: 800 }))
    expect(ticket.spend).toEqual({ ...ofSmall, usedNanoUsd: 800 })
    admitted(admit()).settle(spent({ tokens: 1, nanoUsd: 200 }))
    expect(admit()).toMatchObject({ limit: 'bud_small', spend: { ...ofSmall, usedNanoUsd: 1000 } })
  })

  test('in money of a key are shown to the key alone', () => {
    const { admit, usage, caller, clock } = start({})
    const limit = { type: 'spend' as const, nanoUsd: 1000 }
    usage.putBudget(budgetOf({ id: 'bud_gate', limit }))
    usage.putBudget(
      budgetOf({
        id: 'bud_key',
        scope: { type: 'key', keyId: caller.keyId },
        limit,
        period: 'month',
      }),
    )
    admitted(admit()).settle(spent({ tokens: 1, nanoUsd: 300 }))
    const dimensions = { gateId: '' }
    expect(usage.ownSpend(caller, dimensions, clock.nowMs)).toEqual([
      {
        period: 'month',
        usedNanoUsd: 300,
        limitNanoUsd: 1000,
        endsAtMs: Date.parse('2026-12-01T00:00:00.000Z'),
      },
    ])
    const other = { ...caller, keyId: 'key_other' as KeyId }
    expect(usage.ownSpend(other, dimensions, clock.nowMs)).toEqual([])
  })

  test('raise an alert for each share once a period', () => {
    const { admit, usage, clock, alerts } = start({})
    usage.putBudget(budgetOf())
    const use = (tokens: number) => admitted(admit()).settle(spent({ tokens }))
    use(49)
    expect(alerts).toEqual([])
    use(1)
    use(1)
    use(60)
    expect(alerts.map(({ threshold, used }) => [threshold, used])).toEqual([
      [0.5, 50],
      [0.8, 111],
      [1, 111],
    ])
    clock.nowMs += 120_000
    use(55)
    expect(alerts.slice(3)).toMatchObject([
      { threshold: 0.5, periodStartsAtMs: Date.parse('2026-12-01') },
    ])
  })
})
