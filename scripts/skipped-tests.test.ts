/** Every skipped test must give its reason, through test/support/skip-unless.ts. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { findTestFiles } from './test-files.ts'

const HOUSE = join(import.meta.dir, '..')
/** Every way of bun:test to skip tests. */
const SILENT =
  /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|skipIf|todo|todoIf|if|only|failing)\b|\b(?:xit|xtest|xdescribe)\(/

test.each([
  'test.skipIf(x)(',
  "describe.skip('a')",
  'test.todo(',
  "it.only.each([1])('x')",
  'test.if(x)(',
])('%s is one', (text) => {
  expect(text).toMatch(SILENT)
})

test('all give their reason', async () => {
  const here = import.meta.path
  const paths = findTestFiles(HOUSE).map((path) => join(HOUSE, path))
  const silent: string[] = []
  for (const path of paths.filter((path) => path !== here))
    if (SILENT.test(await Bun.file(path).text())) silent.push(path)
  expect(paths.length).toBeGreaterThan(100)
  expect(silent).toEqual([])
})
