import { expect, test } from 'bun:test'
import { toRecentUse } from './recent-use-note.tsx'

type Sum = Parameters<typeof toRecentUse>[0][number]

const unmeasured = { p50: null, p95: null, p99: null }
const sum = (group: string | null, calls: number, isRest = false): Sum => ({
  start: '2026-11-21T00:00:00Z',
  group,
  isRest,
  calls,
  errors: 1,
  cancelled: 0,
  tokens: { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0, unreportedCalls: 0 },
  cost: { usd: 0, estimatedCalls: 0, unknownCalls: 0, unpricedCalls: 0 },
  durationMs: unmeasured,
  firstByteMs: unmeasured,
})

test('a key without a sum was not used', () => {
  const useOf = toRecentUse([sum('busy', 12)])
  expect(useOf('busy')).toMatchObject({ calls: 12, errors: 1 })
  expect(useOf('quiet')).toEqual({ calls: 0, errors: 0 })
})

test('refused calls of a key are no errors', () => {
  const refused = { ...sum('busy', 12), errors: 5, refused: 4 }
  expect(toRecentUse([refused])('busy')).toEqual({ calls: 12, errors: 1 })
})

test('a key is not called unused if the sums are incomplete', () => {
  const useOf = toRecentUse([sum('busy', 12), sum(null, 40, true)])
  expect(useOf('quiet')).toBeUndefined()
})
