/** A run begins with the tests that take longest. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SLOW_TESTS, toTimings } from './slow-tests.ts'
import { findTestFiles } from './test-files.ts'

test('each file of the list is there, once', () => {
  const there = findTestFiles(join(import.meta.dir, '..'))
  expect(SLOW_TESTS.filter((path) => !there.includes(path))).toEqual([])
  expect(new Set(SLOW_TESTS).size).toBe(SLOW_TESTS.length)
})

test('the slowest of a run are begun first, in their order, also beside files that are not in the list', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-order-'))
  try {
    const begun = join(folder, 'begun')
    const slow = SLOW_TESTS.slice(0, 2)
    const files = ['a', 'b', 'c', 'd'].map((name) => `${name}.test.ts`)
    // The last two by name stand for the two slowest.
    const paths = [...files.slice(0, 2), ...slow.toReversed()]
    const timings = JSON.parse(toTimings(paths)).files as Record<string, number>
    const own = Object.fromEntries(files.map((name, index) => [name, timings[paths[index] ?? '']]))
    writeFileSync(join(folder, 'timings.json'), JSON.stringify({ version: 1, files: own }))
    // None ends before two have begun: on a busy machine the second process of two comes late.
    for (const name of files)
      writeFileSync(
        join(folder, name),
        `const { appendFileSync, readFileSync } = require('node:fs')
        appendFileSync(${JSON.stringify(begun)}, '${name}\\n')
        require('bun:test').test('waits for another', async () => {
          while (readFileSync(${JSON.stringify(begun)}, 'utf8').split('\\n').length < 3) await Bun.sleep(5)
        }, 60_000)`,
      )
    const ran = Bun.spawnSync(
      [
        process.execPath,
        'test',
        '--parallel=2',
        '--timings=timings.json',
        ...files.map((name) => `./${name}`),
      ],
      { cwd: folder, env: { PATH: process.env.PATH ?? '', TMPDIR: folder }, stderr: 'pipe' },
    )
    expect(String(ran.stderr)).toContain('4 pass')
    const order = readFileSync(begun, 'utf8').trim().split('\n')
    expect(order.slice(0, 2).sort()).toEqual(['c.test.ts', 'd.test.ts'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
