import { expect, test } from 'bun:test'
import { listAttempts, scaleEnd } from './call-timing.tsx'
import type { Log } from './log-filter.ts'

const call = (changes: Partial<Log>) =>
  ({
    target: 'p/m',
    attempts: 1,
    attemptDetails: null,
    status: 200,
    firstByteMs: 30,
    durationMs: 90,
    ...changes,
  }) as Log

test('a call with a single attempt has one bar, as long as the call', () => {
  expect(listAttempts(call({}))).toEqual([
    { target: 'p/m', status: 200, afterMs: 0, durationMs: 90, hasAnswered: true },
  ])
})

test('a call without an upstream attempt has no bar', () => {
  expect(listAttempts(call({ target: null, attempts: 0 }))).toEqual([])
})

test('an attempt without a status, or with a failed one, has not answered', () => {
  const attemptDetails = [
    { target: 'p/a', status: null, afterMs: 0, durationMs: 10 },
    { target: 'p/b', status: 429, afterMs: 10, durationMs: 5 },
    { target: 'p/c', status: 200, afterMs: 20, durationMs: 80 },
  ]
  const attempts = listAttempts(call({ attempts: 3, attemptDetails }))
  expect(attempts.map(({ hasAnswered }) => hasAnswered)).toEqual([false, false, true])
})

test('the scale ends with the last bar, and is never empty', () => {
  const late = { target: 'p/a', status: 200, afterMs: 80, durationMs: 40, hasAnswered: true }
  expect(scaleEnd(call({}), [late])).toBe(120)
  expect(scaleEnd(call({ durationMs: 0, firstByteMs: null }), [])).toBe(1)
})
