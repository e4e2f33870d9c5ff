import { expect, test } from 'bun:test'
import { formatRemaining } from './times.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')

test.each([
  [0, 'in less than a minute'],
  [59, 'in less than a minute'],
  [60, 'in 1 minute'],
  [3_599, 'in 59 minutes'],
  [3_600, 'in 1 hour'],
  [86_399, 'in 24 hours'],
  [86_400, 'in 24 hours'],
  [172_800, 'in 2 days'],
  [604_799, 'in 7 days'],
])('%i seconds leave %s', (seconds, words) => {
  expect(formatRemaining(NOW + seconds * 1_000, NOW)).toBe(words)
})
