/**
 * No regular expression of the product takes time that grows faster than its text. recheck judges
 * every literal under `src/`, in its build of plain JavaScript.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from '@swc/core'
import { IS_LONG } from '../support/chaos-form.ts'

const recheck: typeof import('recheck') = require('recheck/lib/browser.js')

const HOUSE = join(import.meta.dir, '../..')

/** The files that build expressions from text. */
const MADE: readonly (readonly [path: string, count: number, reason: string])[] = [
  ['src/contract/model-takes.ts', 1, 'one class of checked characters, which is only compiled'],
  [
    'src/sandbox/compose-answer.ts',
    1,
    'words of a tool name, escaped, with repeats of separators between',
  ],
  [
    'src/wire/context-full.ts',
    1,
    'constant sentences with bounded figures, tried on 2,000 characters of an error',
  ],
  ['src/wire/fit/tool-names.ts', 1, 'classes of checked characters, without repeats'],
]

/** Bounded by steps, never by time: a busy machine finds the same. */
const LIMITS = {
  timeout: null,
  maxNFASize: 1_000,
  maxIteration: IS_LONG ? 2 : 1,
  maxInitialGenerationSize: IS_LONG ? 30 : 10,
  maxGenerationSize: IS_LONG ? 20 : 10,
  maxGeneStringSize: IS_LONG ? 400 : 200,
  incubationLimit: IS_LONG ? 5_000 : 2_000,
  attackLimit: IS_LONG ? 100_000 : 30_000,
}

interface Expressions {
  /** Source and flags, as `/source/flags`. */
  readonly literals: ReadonlyMap<string, readonly [source: string, flags: string]>
  /** Number of expressions that are made from text at run time. */
  readonly made: number
}

/** Reads the syntax tree, since a search in the text takes divisions for expressions. */
function findExpressions(text: string): Expressions {
  const literals = new Map<string, [string, string]>()
  let made = 0
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node) {
      if (node.type === 'RegExpLiteral' && 'pattern' in node && 'flags' in node) {
        const [source, flags] = [String(node.pattern), String(node.flags)]
        literals.set(`/${source}/${flags}`, [source, flags])
      }
      if ((node.type === 'NewExpression' || node.type === 'CallExpression') && 'callee' in node)
        made += isRegExp(node.callee) ? 1 : 0
    }
    for (const value of Object.values(node)) visit(value)
  }
  visit(parseSync(text.replace(/^#!/, '//'), { syntax: 'typescript', target: 'esnext' }))
  return { literals, made }
}

function isRegExp(callee: unknown): boolean {
  return (
    typeof callee === 'object' && callee !== null && 'value' in callee && callee.value === 'RegExp'
  )
}

function statusOf(source: string, flags: string): string {
  return recheck.checkSync(source, flags, LIMITS).status
}

const sources = [...new Bun.Glob('src/**/*.ts').scanSync({ cwd: HOUSE })]
  .filter((path) => !/\.(?:test|fixture|generated)\.ts$/.test(path))
  .sort()
  .map((path) => ({ path, found: findExpressions(readFileSync(join(HOUSE, path), 'utf8')) }))

test('no literal is slow on a hostile text', () => {
  const pathsOf = new Map(
    sources.flatMap(({ path, found }) => [...found.literals.keys()].map((one) => [one, path])),
  )
  const literals = new Map(sources.flatMap(({ found }) => [...found.literals]))
  expect(literals.size).toBeGreaterThan(100)
  const notSafe = [...literals]
    .map(([literal, [source, flags]]) => ({ literal, status: statusOf(source, flags) }))
    .filter(({ status }) => status !== 'safe')
  expect(
    notSafe.map(({ literal, status }) => `${pathsOf.get(literal)}: ${literal} is ${status}`),
  ).toEqual([])
}, 300_000)

test('expressions built from text at run time are listed', () => {
  const made = sources
    .filter(({ found }) => found.made > 0)
    .map(({ path, found }) => [path, found.made])
  expect(made).toEqual(MADE.map(([path, count]) => [path, count]))
})

test.each([
  ['^\\s*a\\s*(?:;\\s*b\\s*)?;?\\s*$'],
  ['\\s+$'],
  ['^(?:a+)+$'],
  ['^(?:a*)*$'],
  ['^[^@]+\\.[^@]+$'],
  ['^(\\w{1,50}){2,9}\\w{1,80}!$'],
])('/%s/ counts as slow', (source) => {
  expect(statusOf(source, '')).toBe('vulnerable')
})
