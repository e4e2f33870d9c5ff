import { expect, test } from 'bun:test'
import { formatRelative, formatRemaining, inEnglish } from './times.ts'

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

test.each([
  [59, 'just now'],
  [60, '1 minute ago'],
  [3_569, '59 minutes ago'],
  [3_571, '1 hour ago'],
  [84_599, '23 hours ago'],
  [84_601, 'yesterday'],
  [27 * 86_400, '4 weeks ago'],
])('%i seconds are %s', (seconds, words) => {
  expect(formatRelative(NOW - seconds * 1_000, NOW)).toBe(words)
})

test.each([
  ['de-DE', '27 Nov 2026, 14:03:07'],
  ['de', '27 Nov 2026, 14:03:07'],
  ['en-GB', '27 Nov 2026, 14:03:07'],
  ['en-US', 'Nov 27, 2026, 2:03:07 PM'],
  ['ar-EG', 'Nov 27, 2026, 2:03:07 PM'],
  ['fa-IR', 'Nov 27, 2026, 2:03:07 PM'],
  ['th-TH-u-nu-thai', 'Nov 27, 2026, 2:03:07 PM'],
  ['zh-Hant-TW', 'Nov 27, 2026, 2:03:07 PM'],
])('to a reader with %s the words of a moment are English: %s', (locale, text) => {
  const format = new Intl.DateTimeFormat(inEnglish(locale), {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: 'UTC',
  })
  expect(format.format(Date.parse('2026-11-27T14:03:07Z')).replaceAll('\u202f', ' ')).toBe(text)
})
