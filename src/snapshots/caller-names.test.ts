import { beforeEach, expect, test } from 'bun:test'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { CallerName } from '../store/calls/caller-names.ts'
import { CallerNames } from './caller-names.ts'

const DAY_MS = 24 * 3_600_000
const STRANGER = 'acct_stranger' as AccountId

let written: (readonly [seenAt: number, hashes: readonly string[]])[]
let failure: Error | undefined

beforeEach(() => {
  written = []
  failure = undefined
})

function open(now = DAY_MS + 5) {
  return new CallerNames({
    names: {
      async write(names: readonly CallerName[], seenAt: number) {
        if (failure !== undefined) throw failure
        written.push([seenAt, names.map(({ hash }) => hash)])
      },
    },
    hashKeys: { checkOf: () => () => true },
    clock: { now: () => now },
  })
}

test('each name is written once a day, with the beginning of the day', async () => {
  const names = open()
  for (const _ of [1, 2]) {
    names.note(DEFAULT_ACCOUNT, 'tag', 'a', 'repo:a')
    names.note(STRANGER, 'tag', 'a', 'repo:a')
    await names.flush()
  }
  names.note(DEFAULT_ACCOUNT, 'user', 'user_ann', undefined)
  await names.close()
  expect(written).toEqual([
    [DAY_MS, ['a', 'a']],
    [DAY_MS, ['user_ann']],
  ])
})

test('names that could not be written are written later', async () => {
  const names = open()
  names.note(DEFAULT_ACCOUNT, 'tag', 'a', 'a')
  failure = new Error('the store is away')
  await expect(names.flush()).rejects.toThrow('the store is away')
  names.note(DEFAULT_ACCOUNT, 'tag', 'b', 'b')
  failure = undefined
  await names.flush()
  expect(written).toEqual([[DAY_MS, ['a', 'b']]])
})

test('a tag takes a thousand values, and known values stay', () => {
  const names = open()
  for (let at = 0; at < 1_000; at += 1)
    expect(names.takesTagValue(DEFAULT_ACCOUNT, 'repo', `r${at}`)).toBe(true)
  expect(names.takesTagValue(DEFAULT_ACCOUNT, 'repo', 'another')).toBe(false)
  expect(names.takesTagValue(DEFAULT_ACCOUNT, 'repo', 'r0')).toBe(true)
  expect(names.takesTagValue(DEFAULT_ACCOUNT, 'team', 'another')).toBe(true)
  expect(names.takesTagValue(STRANGER, 'repo', 'another')).toBe(true)
})
