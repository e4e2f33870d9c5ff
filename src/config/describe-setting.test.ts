import { expect, test } from 'bun:test'
import {
  bytes,
  choice,
  count,
  days,
  describeDefault,
  describeOtherDefault,
  describeType,
  milliseconds,
  type SettingType,
  secret,
  share,
  text,
} from './setting-type.ts'

const form = { accepts: () => true, is: 'a word' }

test.each([
  [count(0, 65_535), 'whole number, 0 to 65535'],
  [bytes, 'bytes, 1 or more'],
  [milliseconds(300), 'milliseconds, 300 to 86400000'],
  [{ ...count(1, 9), type: 'integerOrAuto' }, 'whole number, 1 to 9, or auto'],
  [share, 'number from 0 to 1'],
  [choice(['closed', 'open']), 'closed, open'],
  [{ type: 'list', of: 'hosts' }, 'hosts, separated by commas'],
  [text, 'text'],
  [{ ...text, form }, 'a word'],
  [secret, 'secret'],
  [{ ...secret, form }, 'secret: a word'],
] as [SettingType, string][])('type %j is %s', (type, described) => {
  expect(describeType(type)).toBe(described)
})

test.each([
  [milliseconds(), 5_000, '5 s'],
  [milliseconds(), 600_000, '10 min'],
  [milliseconds(), 3_600_000, '1 h'],
  [milliseconds(), 75_000, '75 s'],
  [milliseconds(), 500, undefined],
  [milliseconds(0), 0, undefined],
  [bytes, 64 * 1024 * 1024, '64 MiB'],
  [bytes, 1_000, undefined],
  [days, 30, undefined],
  [count(1), 60_000, undefined],
  [text, 'gatehouse', undefined],
] as [SettingType, unknown, string | undefined][])('%j: %p is %p', (type, value, inWords) => {
  const setting = { type, default: value, sentence: '' }
  expect(describeDefault(setting)).toEqual({ written: String(value), inWords })
})

test('an entry without a default describes it in its own words, and another default names its setting', () => {
  expect(describeDefault({ type: text, without: 'none', sentence: '' })).toBeUndefined()
  expect(describeOtherDefault({ type: text, default: 'a', sentence: '' })).toBeUndefined()
  const defaultWith = { setting: 'OTHER', default: 60_000 }
  expect(
    describeOtherDefault({ type: milliseconds(), default: 1, defaultWith, sentence: '' }),
  ).toEqual({
    setting: 'OTHER',
    written: '60000',
    inWords: '1 min',
  })
})
