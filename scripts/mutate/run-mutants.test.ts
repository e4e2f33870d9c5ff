/** Mutants of a small tree, tried for real; the tree stays as it was. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findMutants, type Mutant } from './find-mutants.ts'
import { NearestTests } from './nearest-tests.ts'
import { runMutants, timeTests } from './run-mutants.ts'
import { TreeCopy } from './tree-copy.ts'

const PATH = 'src/wire/count.ts'
const TEST = 'src/wire/count.test.ts'
const CODE = `export function count(to: number): number {
  let sum = 0
  for (let at = 0; at < to; at += 1) sum = sum + 1
  return sum > 1_000_000 ? 7 : sum
}
`

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gatehouse-mutants-'))
})
afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

function copyOf(expected: number): TreeCopy {
  const house = join(root, 'house')
  mkdirSync(join(house, 'src/wire'), { recursive: true })
  mkdirSync(join(house, 'node_modules/some-package'), { recursive: true })
  writeFileSync(join(house, PATH), CODE)
  writeFileSync(
    join(house, TEST),
    `import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { count } from './count.ts'
test('counts', () => {
  mkdtempSync(join(tmpdir(), 'left-behind-'))
  expect(count(3)).toBe(${expected})
})
`,
  )
  return new TreeCopy(house, join(root, 'copy'))
}

function mutant(mutated: string): Mutant {
  const found = findMutants(PATH, CODE).find((each) => each.mutated === mutated)
  if (found === undefined) throw new Error(`no ${mutated}`)
  return found
}

test('a fault is killed, survives or never ends; afterwards the copy is as it was', async () => {
  const copy = copyOf(3)
  const durations = await timeTests([copy], [TEST])
  expect([...durations.keys()]).toEqual([TEST])
  const told: string[] = []
  const outcomes = await runMutants([mutant('at <= to'), mutant('8'), mutant('at -= 1')], {
    ...{ copies: [copy], durations, nearest: new NearestTests(copy.path) },
    // An endless loop outlasts any limit.
    limitMsFor: (usualMs) => 2_000 + 8 * usualMs,
    onOutcome: ({ result }) => told.push(result),
  })
  expect(outcomes.map(({ result }) => result)).toEqual(['killed', 'survived', 'timed out'])
  expect(told).toEqual(['killed', 'survived', 'timed out'])
  expect(copy.read(PATH)).toBe(CODE)
  expect(readFileSync(join(root, 'house', PATH), 'utf8')).toBe(CODE)
  expect(readdirSync(copy.temporary)).toEqual([])
})

test('tests that fail without a fault are named, with their output', async () => {
  const copy = copyOf(4)
  await expect(timeTests([copy], [TEST])).rejects.toThrow(
    /Tests fail before[\s\S]*count\.test\.ts[\s\S]*Expected: 4/,
  )
})

test('a copy shares the packages and nothing else', () => {
  const copy = copyOf(3)
  expect(existsSync(join(copy.path, 'node_modules/some-package'))).toBe(true)
  copy.write(PATH, 'changed')
  expect(readFileSync(join(root, 'house', PATH), 'utf8')).toBe(CODE)
})
