import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTestFiles, needsRoom, partOf, replacesGlobals } from './test-files.ts'

const HOUSE = join(import.meta.dir, '..')

test.each([
  ['src/core/ids.test.ts', 'unit'],
  ['scripts/test-files.test.ts', 'unit'],
  ['test/contract/providers.test.ts', 'e2e'],
  ['test/e2e/first-minute.test.ts', 'e2e'],
  ['test/chaos/kill.test.ts', 'e2e'],
  ['test/adversary/doors.test.ts', 'unit'],
  ['test/adversary/process/doors.test.ts', 'e2e'],
  ['test/browser/sign-in.test.ts', 'browser'],
  ['test/live/openai.test.ts', 'live'],
] as const)('%s belongs to %s', (path, part) => {
  expect(partOf(path)).toBe(part)
})

describe('a test runs beside at most one other', () => {
  const spawning = findTestFiles(HOUSE).filter((path) => partOf(path) === 'e2e')

  test('if it is under test/chaos', () => {
    expect(needsRoom('test/chaos/kill.test.ts')).toBeTrue()
    expect(needsRoom('test/e2e/keys.test.ts')).toBeFalse()
  })

  test.each(["'../support/cluster.ts'", "'../support/slow-disk.ts'"])('if it uses %s', (text) => {
    const using = spawning.filter((path) => readFileSync(join(HOUSE, path), 'utf8').includes(text))
    expect(using.filter((path) => !needsRoom(path))).toEqual([])
    expect(using).not.toBeEmpty()
  })
})

describe('globals are replaced by', () => {
  test.each([
    'jest.useFakeTimers()',
    "spyOn(globalThis, 'setTimeout')",
    "random = spyOn(Math, 'random').mockReturnValue(0.5)",
    "mock.module('node:fs', () => ({",
    "process.env.TZ = 'UTC'",
    'delete process.env.CI',
    "process.on('unhandledRejection', note)",
    "process.once('exit', note)",
    'process.chdir(folder)',
    'globalThis.fetch = answer',
    'setSystemTime(0)',
    "spyOn(performance, 'now')",
    'callsUnderWay.begin(0)',
  ])('a file with %s', (text) => {
    expect(replacesGlobals(text)).toBeTrue()
  })

  test.each([
    "spyOn(store, 'save')",
    "process.env.PATH ?? ''",
    'const clock = new ScriptedClock()',
  ])('no file with %s', (text) => {
    expect(replacesGlobals(text)).toBeFalse()
  })
})
