/** Every test file is in one part of the run. */
import { expect, test } from 'bun:test'
import { partOf } from './test-files.ts'

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
