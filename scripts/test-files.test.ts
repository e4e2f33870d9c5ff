/** Every test file is in one part of the run, and what measures is not disturbed. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALONE, findTestFiles, isAlone, partOf } from './test-files.ts'

const HOUSE = join(import.meta.dir, '..')

test.each([
  ['src/core/ids.test.ts', 'unit'],
  ['scripts/test-files.test.ts', 'unit'],
  ['test/contract/providers.test.ts', 'e2e'],
  ['test/e2e/first-minute.test.ts', 'e2e'],
  ['test/chaos/kill.test.ts', 'e2e'],
  ['test/browser/sign-in.test.ts', 'browser'],
  ['test/live/openai.test.ts', 'live'],
] as const)('%s belongs to %s', (path, part) => {
  expect(partOf(path)).toBe(part)
})

describe('no other test runs beside', () => {
  const spawning = findTestFiles(HOUSE).filter((path) => partOf(path) === 'e2e')

  test.each(Object.keys(ALONE))('%s, which is there', (path) => {
    expect(spawning).toContain(path)
    expect(path).not.toStartWith('test/chaos/')
  })

  test('what is under test/chaos', () => {
    expect(isAlone('test/chaos/kill.test.ts')).toBeTrue()
    expect(isAlone('test/e2e/keys.test.ts')).toBeFalse()
  })

  // What only a measurement, a flood or a shared resource needs: who imports it, and is not named, was forgotten.
  test.each(["'../support/process-memory.ts'", "'../support/call-load.ts'", "'mount', '-t'"])(
    'what uses %s',
    (text) => {
      const using = spawning.filter((path) => readFileSync(join(HOUSE, path), 'utf8').includes(text))
      expect(using.filter((path) => !isAlone(path))).toEqual([])
      expect(using).not.toBeEmpty()
    },
  )
})
