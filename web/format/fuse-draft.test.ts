import { expect, test } from 'bun:test'
import { describeFuse, findFuseProblems, toFuse, toFuseDraft } from './fuse-draft.ts'

test.each([
  [null],
  [{ usd: 0.5, callsPerMinute: null, forMinutes: 5 }],
  [{ usd: null, callsPerMinute: 60, forMinutes: 5 }],
  [{ usd: 20, callsPerMinute: 1_000, forMinutes: 1 }],
  [{ usd: 20, callsPerMinute: null, forMinutes: 7 }],
])('a fuse comes back from its fields unchanged: %j', (fuse) => {
  expect(toFuse(toFuseDraft(fuse))).toEqual(fuse)
})

test('groups of digits are joined, and a comma before other digits is a decimal point', () => {
  expect(toFuse({ usd: '1,000', calls: ' 2 000', minutes: '' })).toEqual({
    usd: 1_000,
    callsPerMinute: 2_000,
    forMinutes: 5,
  })
  expect(toFuse({ usd: '0,5', calls: '', minutes: '' })).toMatchObject({ usd: 0.5 })
  expect(toFuse({ usd: 'much', calls: '', minutes: '' })?.usd).toBeNaN()
})

test.each([
  [null, 'none'],
  [{ usd: 20, callsPerMinute: null, forMinutes: 5 }, '$20 in an hour'],
  [{ usd: null, callsPerMinute: 60, forMinutes: 1 }, '60 calls a minute for one minute'],
  [
    { usd: 20, callsPerMinute: 60, forMinutes: 5 },
    '$20 in an hour or 60 calls a minute for 5 minutes',
  ],
])('a fuse in words: %j', (fuse, words) => {
  expect(describeFuse(fuse)).toBe(words)
})

test.each([
  [{ usd: '', calls: '', minutes: '' }, []],
  [{ usd: '20', calls: '60', minutes: '' }, []],
  [
    { usd: '0', calls: '1.5', minutes: '61' },
    ['fuse.usd', 'fuse.callsPerMinute', 'fuse.forMinutes'],
  ],
  [{ usd: 'much', calls: '', minutes: '' }, ['fuse.usd']],
  [{ usd: '', calls: '', minutes: '3' }, ['fuse']],
])('the problems of %j are at %j', (draft, fields) => {
  expect(findFuseProblems(draft).map(({ field }) => field)).toEqual(fields)
})
