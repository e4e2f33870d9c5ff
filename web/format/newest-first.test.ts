import { expect, test } from 'bun:test'
import { newestFirst } from './newest-first.ts'

const sorted = (...ids: readonly string[]) =>
  newestFirst(ids.map((id) => ({ id }))).map(({ id }) => id)

test('current models come before old ones, by the version in their name', () => {
  expect(sorted('davinci', 'x-3.5-turbo', 'x-4', 'x-5', 'x-5.6-small', 'x-6-large')).toEqual([
    'x-6-large',
    'x-5.6-small',
    'x-5',
    'x-4',
    'x-3.5-turbo',
    'davinci',
  ])
  expect(sorted('c-3-haiku', 'c-3-7-latest', 'c-opus-4-8', 'c-opus-5', 'c-opus-5-5')).toEqual([
    'c-opus-5-5',
    'c-opus-5',
    'c-opus-4-8',
    'c-3-7-latest',
    'c-3-haiku',
  ])
})

test('sizes, dates and snapshots are no versions', () => {
  expect(
    sorted('m-7b', 'm-8x22b', 'm-405b', 'm-4-0709', 'm-4-2024-05-13', 'm-r7b-12-2024', 'm-5p1'),
  ).toEqual(['m-5p1', 'm-4-0709', 'm-4-2024-05-13', 'm-7b', 'm-8x22b', 'm-405b', 'm-r7b-12-2024'])
})

test('of equal versions the later month comes first, and the rest keep their order', () => {
  expect(sorted('m-large', 'm-large-2312', 'm-large-2512', 'm-tiny')).toEqual([
    'm-large-2512',
    'm-large-2312',
    'm-large',
    'm-tiny',
  ])
})
