/**
 * The limits are exact: never exceeded, never too low over time, and without memory for idle keys.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../core/errors.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import type { CallAhead, Caller, Spent, Ticket } from '../gateway/ports.ts'
import { formatDuration } from './limit-refusals.ts'
import { MemoryLimits } from './memory-limits.ts'
import { atOnce } from './usage-limits.fixture.ts'
import { UsageLimits } from './usage-limits.ts'

function createCaller(
  requestsPerMinute: number,
  concurrentCalls = Number.POSITIVE_INFINITY,
  key = 'key_1',
): Caller {
  const limits = { requestsPerMinute, concurrentCalls, tokensPerMinute: Number.POSITIVE_INFINITY }
  return { accountId: DEFAULT_ACCOUNT, keyId: key as KeyId, limits }
}

const AHEAD: CallAhead = { gateId: 'gate', startedAtMs: 1_790_000_000_000, estimatedTokens: 0 }
const NOTHING: Spent = {
  tokens: 0,
  cost: { nanoUsd: null, status: 'unknown', source: null },
  countsForQuota: true,
  endedAtMs: 0,
}

/** Limits for calls without tokens. */
class CallLimits extends MemoryLimits {
  override admit(caller: Caller, call: CallAhead = AHEAD): Ticket {
    return atOnce(super.admit(caller, call))
  }
}

function createClock(startMs = 1_790_000_000_000) {
  return {
    nowMs: startMs,
    now(): number {
      return this.nowMs
    },
    elapsed(): number {
      return this.nowMs
    },
  }
}

function attempt(limits: CallLimits, caller: Caller): Ticket | GatewayError {
  try {
    return limits.admit(caller)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

function isTicket(result: Ticket | GatewayError): result is Ticket {
  return !(result instanceof GatewayError)
}

test('a call waits until past usage is known', async () => {
  const usage = new UsageLimits({
    plans: createPlans({ default: 'test', definitions: { test: { monthlyTokens: 100 } } }),
  })
  const limits = new CallLimits(createClock(), usage)
  const { promise, resolve } = Promise.withResolvers<void>()
  usage.awaitPast({ quotas: promise, budgets: promise })
  const waiting = limits.whenReady(createCaller(60), { gateId: 'gate' }, 0)
  expect(waiting).toBeInstanceOf(Promise)
  resolve()
  await waiting
  expect(limits.whenReady(createCaller(60), { gateId: 'gate' }, 0)).toBeUndefined()
})

describe('requests per minute', () => {
  test('a fresh key may send its whole minute at once, and then gets a time to come back', () => {
    const clock = createClock()
    const limits = new CallLimits(clock)
    const caller = createCaller(60)
    for (let sent = 1; sent <= 60; sent += 1) {
      expect(limits.admit(caller).headers).toEqual({
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': String(60 - sent),
        'x-ratelimit-reset-requests': formatDuration(sent * 1000),
      })
    }
    clock.nowMs += 250
    expect(attempt(limits, caller)).toMatchObject({
      kind: 'rate_limited',
      status: 429,
      message:
        'Rate limit reached for requests per minute: this key or token is allowed 60. Please try again in 0.75s.',
      headers: {
        'retry-after': '1',
        'retry-after-ms': '750',
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '59.75s',
      },
    })
    clock.nowMs += 749
    expect(isTicket(attempt(limits, caller))).toBe(false)
    clock.nowMs += 1
    expect(isTicket(attempt(limits, caller))).toBe(true)
    expect(isTicket(attempt(limits, caller))).toBe(false)
  })

  test('keys do not share a bucket', () => {
    const limits = new CallLimits(createClock())
    expect(isTicket(attempt(limits, createCaller(1, 5, 'key_a')))).toBe(true)
    expect(isTicket(attempt(limits, createCaller(1, 5, 'key_a')))).toBe(false)
    expect(isTicket(attempt(limits, createCaller(1, 5, 'key_b')))).toBe(true)
  })

  test('a limit of 0 admits nothing, and an unlimited key gets every call through without headers', () => {
    const limits = new CallLimits(createClock())
    expect(attempt(limits, createCaller(0))).toMatchObject({ headers: { 'retry-after': '60' } })
    const free = createCaller(Number.POSITIVE_INFINITY, 5, 'key_free')
    for (let sent = 0; sent < 1000; sent += 1) {
      const ticket = limits.admit(free)
      expect(ticket.headers).toEqual({})
      ticket.settle(NOTHING)
    }
  })

  test('a changed limit holds from the next request on', () => {
    const clock = createClock()
    const limits = new CallLimits(clock)
    for (let sent = 0; sent < 50; sent += 1) limits.admit(createCaller(100))
    expect(limits.admit(createCaller(10)).headers['x-ratelimit-remaining-requests']).toBe('9')
    clock.nowMs += 1000
    expect(limits.admit(createCaller(600)).headers['x-ratelimit-remaining-requests']).toBe('18')
  })

  test('a clock that is set back by a day gives away no requests and does not block the key for a day', () => {
    const clock = createClock()
    const limits = new CallLimits(clock)
    const caller = createCaller(1)
    limits.admit(caller)
    clock.nowMs -= 86_400_000
    expect(isTicket(attempt(limits, caller))).toBe(false)
    clock.nowMs += 60_000
    expect(isTicket(attempt(limits, caller))).toBe(true)
  })

  test('a caller that comes back when due is admitted, and a millisecond earlier is refused', () => {
    const waits = fc.array(fc.nat({ max: 20_000 }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), waits, (requestsPerMinute, waitsMs) => {
        const clock = createClock()
        const limits = new CallLimits(clock)
        const caller = createCaller(requestsPerMinute)
        for (const waitMs of waitsMs) {
          clock.nowMs += waitMs
          let result = attempt(limits, caller)
          while (isTicket(result)) result = attempt(limits, caller)
          clock.nowMs += Number(result.headers?.['retry-after-ms']) - 1
          expect(isTicket(attempt(limits, caller))).toBe(false)
          clock.nowMs += 1
          expect(isTicket(attempt(limits, caller))).toBe(true)
        }
      }),
      { numRuns: 20 },
    )
  })

  test('a key gets its whole limit over a long time, at any spacing of its requests', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 20_000 }),
        fc.integer({ min: 1, max: 977 }),
        (requestsPerMinute, spacingMs) => {
          const clock = createClock()
          const limits = new CallLimits(clock)
          const caller = createCaller(requestsPerMinute)
          while (isTicket(attempt(limits, caller))) {
            // Empties the bucket, so that only the refill is measured.
          }
          const requests = 20_000
          let admitted = 0
          for (let sent = 0; sent < requests; sent += 1) {
            clock.nowMs += spacingMs
            if (isTicket(attempt(limits, caller))) admitted += 1
          }
          const earned = Math.floor((requests * spacingMs * requestsPerMinute) / 60_000)
          expect(admitted).toBe(Math.min(requests, earned))
        },
      ),
      {
        numRuns: 40,
        examples: [
          [7, 1],
          [61, 13],
          [999, 59],
          [1000, 7],
          [20_000, 1],
        ],
      },
    )
  })
})

describe('concurrent calls', () => {
  test('are limited: the next one is refused until one is released, and costs no request', () => {
    const limits = new CallLimits(createClock())
    const caller = createCaller(10, 2)
    const first = limits.admit(caller)
    limits.admit(caller)
    for (let tried = 0; tried < 20; tried += 1) {
      expect(attempt(limits, caller)).toMatchObject({
        kind: 'rate_limited',
        message:
          'Rate limit reached for concurrent calls: this key or token is allowed 2 at a time. Please try again in 1s.',
        headers: {
          'retry-after': '1',
          'retry-after-ms': '1000',
          'x-ratelimit-remaining-requests': '8',
        },
      })
    }
    first.settle(NOTHING)
    expect(limits.admit(caller).headers['x-ratelimit-remaining-requests']).toBe('7')
  })

  test('releasing twice gives one slot back', () => {
    const limits = new CallLimits(createClock())
    const caller = createCaller(10, 2)
    const first = limits.admit(caller)
    limits.admit(caller)
    first.settle(NOTHING)
    first.settle(NOTHING)
    expect(isTicket(attempt(limits, caller))).toBe(true)
    expect(isTicket(attempt(limits, caller))).toBe(false)
  })
})

test('any interleaving of calls, releases and time agrees with an exact model in whole numbers', () => {
  const key = fc.constantFrom('key_a', 'key_b', 'key_c')
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('admit' as const), key }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('release' as const), at: fc.nat() }) },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 3000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 200_000 }) }),
    },
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(step, { maxLength: 400, size: 'max' }),
      (perMinute, concurrent, steps) => {
        const clock = createClock()
        const limits = new CallLimits(clock)
        // The model: sixty-thousandths of a request as BigInt, updated at every step.
        const full = BigInt(perMinute) * 60_000n
        const model = new Map<
          string,
          { parts: bigint; tickets: Ticket[]; admittedAtMs: number[] }
        >()
        const open: { ticket: Ticket; key: string }[] = []
        for (const current of steps) {
          if (current.type === 'wait') {
            clock.nowMs += current.ms
            for (const state of model.values()) {
              const parts = state.parts + BigInt(current.ms) * BigInt(perMinute)
              state.parts = parts > full ? full : parts
            }
          } else if (current.type === 'release') {
            const [released] = open.splice(open.length === 0 ? 0 : current.at % open.length, 1)
            if (released === undefined) continue
            released.ticket.settle(NOTHING)
            released.ticket.settle(NOTHING)
            const state = model.get(released.key)
            if (state !== undefined)
              state.tickets = state.tickets.filter((ticket) => ticket !== released.ticket)
          } else {
            const state = model.get(current.key) ?? { parts: full, tickets: [], admittedAtMs: [] }
            model.set(current.key, state)
            const result = attempt(limits, createCaller(perMinute, concurrent, current.key))
            expect(isTicket(result)).toBe(
              state.parts >= 60_000n && state.tickets.length < concurrent,
            )
            if (!isTicket(result)) continue
            state.parts -= 60_000n
            state.tickets.push(result)
            state.admittedAtMs.push(clock.nowMs)
            open.push({ ticket: result, key: current.key })
            expect(result.headers['x-ratelimit-remaining-requests']).toBe(
              String(state.parts / 60_000n),
            )
          }
        }
        for (const { admittedAtMs } of model.values()) expectWindowsWithin(admittedAtMs, perMinute)
      },
    ),
    { numRuns: 200 },
  )
})

/** Every window between two admissions contains at most limit + rate × time admissions. */
function expectWindowsWithin(admittedAtMs: readonly number[], perMinute: number): void {
  for (const [first, fromMs] of admittedAtMs.entries()) {
    for (const [last, toMs] of admittedAtMs.entries()) {
      if (last < first) continue
      if ((last - first + 1) * 60_000 > perMinute * 60_000 + (toMs - fromMs) * perMinute) {
        throw new Error(
          `${last - first + 1} admitted in ${toMs - fromMs} ms at ${perMinute} per minute`,
        )
      }
    }
  }
}

describe('memory', () => {
  test('a flood of keys that call once each leaves only those of the last moments in memory', () => {
    const clock = createClock()
    const limits = new CallLimits(clock)
    let most = 0
    for (let index = 0; index < 50_000; index += 1) {
      // At 60 a minute, a bucket is full again after one second, which is a hundred keys later.
      clock.nowMs += 10
      limits.admit(createCaller(60, 5, `key_${index}`)).settle(NOTHING)
      most = Math.max(most, limits.trackedKeys)
    }
    expect(most).toBeLessThanOrEqual(400)
  })

  test('a flood of accounts with limits that call once each leaves only those of the last moments in memory', () => {
    const clock = createClock()
    const limits = new CallLimits(clock)
    const account = {
      requestsPerMinute: 60,
      concurrentCalls: 5,
      tokensPerMinute: Number.POSITIVE_INFINITY,
    }
    let most = 0
    for (let index = 0; index < 50_000; index += 1) {
      clock.nowMs += 10
      const caller = createCaller(60, 5, `key_${index}`)
      const accountId = `acct_${index}` as AccountId
      limits.admit({ ...caller, accountId, limits: { ...caller.limits, account } }).settle(NOTHING)
      most = Math.max(most, limits.trackedKeys)
    }
    expect(most).toBeLessThanOrEqual(800)
  })

  test('a key with a running call is kept, however long it runs', () => {
    const clock = createClock()
    const limits = new CallLimits(clock)
    const slow = createCaller(60, 1, 'key_slow')
    const ticket = limits.admit(slow)
    for (let index = 0; index < 1000; index += 1) {
      clock.nowMs += 1000
      limits.admit(createCaller(60, 5, `key_${index}`)).settle(NOTHING)
    }
    expect(isTicket(attempt(limits, slow))).toBe(false)
    ticket.settle(NOTHING)
    expect(isTicket(attempt(limits, slow))).toBe(true)
  })
})

test.each([
  [0, '0s'],
  [120, '120ms'],
  [1000, '1s'],
  [7660, '7.66s'],
  [60_000, '1m0s'],
  [90_951, '1m30.951s'],
  [360_000, '6m0s'],
  [3_600_000, '1h0m0s'],
  [7_384_005, '2h3m4.005s'],
])('a duration of %d ms is written %s', (durationMs, written) => {
  expect(formatDuration(durationMs)).toBe(written)
})
