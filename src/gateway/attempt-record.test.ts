/** What a call tells of its attempts: those that failed keep their time, the one that answers counts until it is told. */
import { expect, test } from 'bun:test'
import { beginAttempt, toOutcome } from './attempt-record.ts'

test('a failed attempt has its own duration, one that goes on has lasted until now', () => {
  const failed = beginAttempt('a/m')
  failed.status = 503
  failed.failedAt = failed.askedAt + 12.4
  const answering = { ...beginAttempt('b/n'), askedAt: performance.now() - 1000, status: 200 }
  const silent = beginAttempt('c/o')
  const told = toOutcome({ now: () => 1500 }, { startedAtMs: 1000, attempts: [failed, answering, silent] })
  expect(told.latencyMs).toBe(500)
  expect(told.attempts).toEqual([
    { target: 'a/m', status: 503, ms: 12 },
    { target: 'b/n', status: 200, ms: expect.any(Number) },
    { target: 'c/o', status: null, ms: expect.any(Number) },
  ])
  expect(told.attempts[1]?.ms).toBeGreaterThanOrEqual(1000)
})
