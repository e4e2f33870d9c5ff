import { expect, test } from 'bun:test'
import { changedRules, isSound, parseLimit, toDraft, toRules, toTags } from './token-draft.ts'

const EMPTY = toDraft(undefined)

test.each([
  ['', null],
  [' 1,200 ', 1200],
  ['5', 5],
  ['0', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['many', undefined],
] as const)('the limit %j is read as %p', (text, limit) => {
  expect(parseLimit(text)).toBe(limit)
  expect(isSound({ ...EMPTY, tokensPerMinute: text })).toBe(limit !== undefined)
})

test('a token without a gate of its choice is not sound', () => {
  expect(isSound({ ...EMPTY, gates: [] })).toBe(false)
})

test('ranges and owner are read as they were typed', () => {
  const rules = toRules({
    ...EMPTY,
    owner: 'tag:tag_1',
    ipRanges: ' 10.0.0.0/8,\n2001:db8::/32 ',
  })
  expect(rules.owner).toEqual({ type: 'tag', id: 'tag_1' })
  expect(rules.ipRanges).toEqual(['10.0.0.0/8', '2001:db8::/32'])
})

test('tags are separated by commas', () => {
  expect(toTags(' team-a ,repo:my repo,,team-a')).toEqual(['team-a', 'repo:my repo'])
  expect(toTags(' , ')).toEqual([])
})

test('only rules that differ are changed', () => {
  const draft = { ...EMPTY, gates: ['demo'], requestsPerMinute: '10' }
  expect(changedRules(draft, { ...draft, requestsPerMinute: ' 10' })).toEqual({})
  expect(changedRules(draft, { ...draft, gates: null, overrides: true })).toEqual({
    gates: null,
    overrides: true,
  })
})
