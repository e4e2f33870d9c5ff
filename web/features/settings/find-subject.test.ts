import { expect, test } from 'bun:test'
import { findSubject } from './budget-scope-fields.tsx'

const keys = Array.from({ length: 5_000 }, (_, index) => ({
  id: `key_${index}`,
  label: `team-${index} (gh_${index}…)`,
}))
const find = (text: string) => {
  const { subject, matches } = findSubject(keys, text)
  return [subject?.id, matches] as const
}

test('one key among thousands is found by its id, its label or a part of it', () => {
  expect(find('key_4711')).toEqual(['key_4711', 1])
  expect(find(' TEAM-12 (gh_12…) ')).toEqual(['key_12', 1])
  expect(find('gh_4999')).toEqual(['key_4999', 1])
})

test('a text that may mean several, or none, chooses nothing', () => {
  expect(find('team-471')).toEqual([undefined, 11])
  expect(find('nobody')).toEqual([undefined, 0])
  expect(find('')).toEqual([undefined, 5_000])
})

test('a whole id wins over longer ones that contain it', () => {
  expect(find('key_1')).toEqual(['key_1', 1])
})
