import { expect, test } from 'bun:test'
import type { Period } from '../core/period.ts'
import { toSimulatedRange } from './simulated-range.ts'

const NOW = '2026-11-18T12:00:00.000Z' // a Wednesday
const OLDEST = '2026-10-19T12:00:00.000Z'

test.each<[string, Period, string | undefined, string | undefined, string, string]>([
  ['seven full days', 'day', undefined, undefined, '2026-11-11T00:00', '2026-11-18T00:00'],
  ['four full weeks', 'week', undefined, undefined, '2026-10-19T12:00', '2026-11-16T00:00'],
  [
    'what is left of a full month',
    'month',
    undefined,
    undefined,
    '2026-10-19T12:00',
    '2026-11-01T00:00',
  ],
  ['all calls in total', 'total', undefined, undefined, '2026-10-19T12:00', '2026-11-18T12:00'],
  [
    'until now from a given time',
    'month',
    '2026-11-05T07:00',
    undefined,
    '2026-11-05T07:00',
    '2026-11-18T12:00',
  ],
  [
    'before a given time',
    'month',
    undefined,
    '2026-11-10T00:00',
    '2026-11-01T00:00',
    '2026-11-10T00:00',
  ],
  [
    'not the future',
    'day',
    '2026-11-17T00:00',
    '2026-12-01T00:00',
    '2026-11-17T00:00',
    '2026-11-18T12:00',
  ],
  [
    'not deleted calls',
    'day',
    '2026-01-01T00:00',
    '2026-11-01T00:00',
    '2026-10-19T12:00',
    '2026-11-01T00:00',
  ],
])('%s', (_name, period, from, to, expectedFrom, expectedTo) => {
  const range = toSimulatedRange({
    period,
    fromMs: from === undefined ? undefined : Date.parse(`${from}Z`),
    toMs: to === undefined ? undefined : Date.parse(`${to}Z`),
    nowMs: Date.parse(NOW),
    oldestMs: Date.parse(OLDEST),
    retainedMs: 30 * 86_400_000,
  })
  expect(new Date(range.fromMs).toISOString()).toBe(`${expectedFrom}:00.000Z`)
  expect(new Date(range.toMs).toISOString()).toBe(`${expectedTo}:00.000Z`)
})

test('a full month that is deleted is replaced by the retained calls', () => {
  const nowMs = Date.parse(NOW)
  const asked = {
    period: 'month',
    fromMs: undefined,
    toMs: undefined,
    nowMs,
    retainedMs: 0,
  } as const
  const oldestMs = nowMs - 3 * 86_400_000
  expect(toSimulatedRange({ ...asked, oldestMs })).toEqual({ fromMs: oldestMs, toMs: nowMs })
})
