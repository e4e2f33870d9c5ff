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
    {
      target: 'p/m',
      status: 200,
      afterMs: 0,
      durationMs: 90,
      state: 'answered',
      reason: undefined,
    },
  ])
})

test('a call without an upstream attempt has no bar', () => {
  expect(listAttempts(call({ target: null, attempts: 0 }))).toEqual([])
})

test('an attempt without a status, or with a failed one, has not answered', () => {
  const before = { errorKind: null, errorCode: null }
  const attemptDetails = [
    { target: 'p/a', status: null, afterMs: 0, durationMs: 10, ...before },
    { target: 'p/b', status: 429, afterMs: 10, durationMs: 5, ...before },
    { target: 'p/c', status: 200, afterMs: 20, durationMs: 80, ...before },
  ]
  const attempts = listAttempts(call({ attempts: 3, attemptDetails }))
  expect(attempts.map(({ state }) => state)).toEqual(['failed', 'failed', 'answered'])
})

test('an attempt with a kind of error has failed, whatever its status, and says why', () => {
  const times = { afterMs: 0, durationMs: 10 }
  const attemptDetails = [
    {
      target: 'p/a',
      status: 200,
      ...times,
      errorKind: 'upstream_error',
      errorCode: 'bad_upstream_answer',
    },
    { target: 'p/b', status: null, ...times, errorKind: null, errorCode: null },
    { target: 'p/c', status: 500, ...times, errorKind: 'upstream_error', errorCode: null },
  ] as const
  const attempts = listAttempts(call({ attempts: 3, attemptDetails: [...attemptDetails] }))
  expect(attempts.map(({ state, reason }) => [state, reason])).toEqual([
    ['failed', 'upstream error (bad upstream answer)'],
    ['ended', undefined],
    ['failed', 'upstream error'],
  ])
})

test('the scale ends with the last bar, and is never empty', () => {
  const late = {
    target: 'p/a',
    status: 200,
    afterMs: 80,
    durationMs: 40,
    state: 'answered',
    reason: undefined,
  } as const
  expect(scaleEnd(call({}), [late])).toBe(120)
  expect(scaleEnd(call({ durationMs: 0, firstByteMs: null }), [])).toBe(1)
})
