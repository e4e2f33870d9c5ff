import { expect, test } from 'bun:test'
import { stateOfExpiry } from '../../../src/contract/expiry.ts'
import { hasExpired, previousOf, toExpiresAt } from './expiry.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const DAY_MS = 86_400_000
const at = (ms: number) => new Date(ms).toISOString()

test('a chosen expiry is counted from now, and a date ends with its day in the pages’ zone', () => {
  const chosen = (choice: Parameters<typeof toExpiresAt>[0]['choice'], day = '') =>
    toExpiresAt({ choice, day }, { now: NOW, kept: at(NOW + 5), zone: 'local' })
  expect(chosen('never')).toBeNull()
  expect(chosen('30d')).toBe(NOW + 30 * DAY_MS)
  expect(chosen('90d')).toBe(NOW + 90 * DAY_MS)
  expect(chosen('1y')).toBe(NOW + 365 * DAY_MS)
  expect(chosen('keep')).toBe(NOW + 5)
  expect(chosen('date', '2026-12-31')).toBe(new Date(2027, 0, 1).getTime())
  const inUtc = { now: NOW, kept: null, zone: 'utc' } as const
  expect(toExpiresAt({ choice: 'date', day: '2026-12-31' }, inUtc)).toBe(Date.UTC(2027, 0, 1))
  expect(chosen('date', '')).toBeUndefined()
  expect(toExpiresAt({ choice: 'keep', day: '' }, { now: NOW, kept: null, zone: 'utc' })).toBeNull()
})

test('a key is marked as ending soon in its last fourteen days, and as expired at its end', () => {
  expect(stateOfExpiry(at(NOW + 14 * DAY_MS + 1), NOW)).toBe('later')
  expect(stateOfExpiry(at(NOW + 14 * DAY_MS), NOW)).toBe('soon')
  expect(stateOfExpiry(at(NOW + 1), NOW)).toBe('soon')
  expect(stateOfExpiry(at(NOW), NOW)).toBe('expired')
  expect([null, at(NOW + 1), at(NOW)].map((expiresAt) => hasExpired({ expiresAt }, NOW))).toEqual([
    false,
    false,
    true,
  ])
})

test('an old key that has ended is not shown', () => {
  const previous = { maskedPrefix: 'sk-svc-ab12…', endsAt: at(NOW + 1) }
  expect(previousOf({ previous, expiresAt: null }, NOW)).toEqual(previous)
  expect(previousOf({ previous, expiresAt: null }, NOW + 1)).toBeUndefined()
  expect(previousOf({ previous: null, expiresAt: null }, NOW)).toBeUndefined()
})

test('an old key ends with its key at the latest', () => {
  const previous = { maskedPrefix: 'sk-svc-ab12…', endsAt: at(NOW + DAY_MS) }
  expect(previousOf({ previous, expiresAt: at(NOW + 5) }, NOW)?.endsAt).toBe(at(NOW + 5))
  expect(previousOf({ previous, expiresAt: at(NOW + 2 * DAY_MS) }, NOW)?.endsAt).toBe(
    previous.endsAt,
  )
  expect(previousOf({ previous, expiresAt: at(NOW) }, NOW)).toBeUndefined()
})
