import { expect, test } from 'bun:test'
import { callNewerThan } from './latest-news.ts'

const at = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`
const probe = (minute: number) => ({
  status: 'reachable' as const,
  checkedAt: at(minute),
  latencyMs: 3,
})
const failure = (minute: number) => ({ code: 'upstream_error', status: 502, at: at(minute) })

test('the newer of probe and traffic is shown, with its time and the failure of its call', () => {
  const answered = { lastAnsweredAt: at(3), lastFailure: null }
  expect(callNewerThan(probe(2), answered)).toEqual({ at: at(3), failure: null })
  expect(callNewerThan(probe(4), answered)).toBeUndefined()
  expect(callNewerThan(null, answered)).toEqual({ at: at(3), failure: null })

  const failed = { lastAnsweredAt: at(3), lastFailure: failure(5) }
  expect(callNewerThan(probe(4), failed)).toEqual({ at: at(5), failure: failure(5) })
  const recovered = { lastAnsweredAt: at(6), lastFailure: failure(5) }
  expect(callNewerThan(probe(4), recovered)).toEqual({ at: at(6), failure: null })
})

test('a model that was not called since the restart of the node shows its probe', () => {
  expect(callNewerThan(probe(1), undefined)).toBeUndefined()
  expect(callNewerThan(probe(1), { lastAnsweredAt: null, lastFailure: null })).toBeUndefined()
})
