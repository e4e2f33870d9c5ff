import { expect, test } from 'bun:test'
import { describeHealth, type TargetHealth } from './health-badge.tsx'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const health: TargetHealth = {
  target: 'sandbox/500',
  configured: true,
  state: 'unknown',
  restsUntil: null,
  failuresInARow: 0,
  averageFirstByteMs: null,
  lastAnsweredAt: null,
  lastFailure: null,
}
const failed = { code: 'upstream_error', status: 502, at: '2026-01-01T11:58:00Z' }

test.each<[Partial<TargetHealth>, string, string]>([
  [{}, 'not seen since restart', 'No call to this target since the restart of this node.'],
  [{ seenSince: '2026-01-01T11:55:00Z' }, 'not seen since restart', '(5 minutes ago).'],
  [
    { lastFailure: failed },
    'not seen since the change',
    'Not called since its credential was changed. Last',
  ],
  [{ configured: false }, 'no key', 'The provider has no key'],
  [{ state: 'healthy', averageFirstByteMs: 120 }, 'healthy', 'First byte after 120 ms on average.'],
  [{ state: 'failing', failuresInARow: 1, lastFailure: failed }, 'failing', 'Failed the last time'],
  [
    { state: 'failing', failuresInARow: 3, lastFailure: failed },
    'failing',
    'upstream_error (502), 2 minutes ago',
  ],
  [
    { state: 'resting', failuresInARow: 5, restsUntil: '2026-01-01T12:00:04.200Z' },
    'resting 5 s',
    '5 times',
  ],
  [
    { state: 'resting', failuresInARow: 5, restsUntil: '2026-01-01T11:59:00Z' },
    'resting',
    '5 times',
  ],
  [{ state: 'probing' }, 'probing', 'one call checks whether'],
])('%o is told as "%s"', (seen, word, part) => {
  const told = describeHealth({ ...health, ...seen }, NOW, 'utc')
  expect(told.word).toBe(word)
  expect(told.sentence).toContain(part)
})

test('a target that is not saved yet is described as such', () => {
  expect(describeHealth(undefined, NOW, 'utc').word).toBe('not saved yet')
})
