import { afterEach, describe, expect, test } from 'bun:test'
import {
  hasWholeHours,
  nameOffset,
  parseFieldTime,
  startOfDay,
  toDay,
  toFieldTime,
} from './time-zone.ts'

const outside = process.env.TZ
afterEach(() => {
  process.env.TZ = outside ?? 'UTC'
})
/** The reader's browser stands there. */
const liveIn = (zone: string) => {
  process.env.TZ = zone
}
const at = (text: string) => Date.parse(text)

describe('the reader’s own zone', () => {
  test('has its local days, of 23 and 25 hours too', () => {
    liveIn('Europe/Zurich')
    expect(toDay(at('2026-11-21T23:30:00Z'), 'local')).toBe('2026-11-22')
    expect(toDay(at('2026-11-21T23:30:00Z'), 'utc')).toBe('2026-11-21')
    expect(startOfDay('2026-11-22', 'local')).toBe(at('2026-11-21T23:00:00Z'))
    const hoursOf = (day: string) =>
      (startOfDay(day, 'local', 1) - startOfDay(day, 'local')) / 3_600_000
    expect(['2026-03-28', '2026-03-29', '2026-10-25'].map(hoursOf)).toEqual([24, 23, 25])
    expect(startOfDay('2026-12-31', 'local', 1)).toBe(at('2026-12-31T23:00:00Z'))
  })

  test('is named by its offset from UTC at the time', () => {
    liveIn('Europe/Zurich')
    expect(nameOffset('local', at('2026-11-21T00:00Z'))).toBe('UTC+1')
    expect(nameOffset('local', at('2026-07-21T00:00Z'))).toBe('UTC+2')
    expect(nameOffset('utc', at('2026-07-21T00:00Z'))).toBe('UTC')
    liveIn('America/St_Johns')
    expect(nameOffset('local', at('2026-11-21T00:00Z'))).toBe('UTC−3:30')
    expect(hasWholeHours('local', at('2026-11-21T00:00Z'))).toBe(false)
    expect(hasWholeHours('utc', at('2026-11-21T00:00Z'))).toBe(true)
    liveIn('Asia/Kathmandu')
    expect(nameOffset('local', at('2026-11-21T00:00Z'))).toBe('UTC+5:45')
  })
})

test.each(['Europe/Zurich', 'America/St_Johns', 'Pacific/Kiritimati', 'UTC'])(
  'in %s a field keeps the moment that was set',
  (name) => {
    liveIn(name)
    for (const zone of ['local', 'utc'] as const) {
      const moment = at('2026-07-01T22:45:00Z')
      expect(parseFieldTime(toFieldTime(moment, zone), zone)).toBe(moment)
      const day = toDay(moment, zone)
      expect(startOfDay(day, zone)).toBeLessThanOrEqual(moment)
      expect(startOfDay(day, zone, 1)).toBeGreaterThan(moment)
    }
  },
)

test('an invalid day or time is rejected in either zone', () => {
  for (const zone of ['local', 'utc'] as const) {
    expect(startOfDay('2026-13-01', zone)).toBeNaN()
    expect(startOfDay('', zone)).toBeNaN()
    expect(parseFieldTime('', zone)).toBeNaN()
  }
})
