/**
 * No regular expression of the product costs more than its text is long: every literal under `src/`
 * is read by its shape, and run on texts that make its repeats go as far as they can and fail. It
 * must not know what they are for.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type FoundExpression,
  findRegularExpressions,
} from '../../scripts/find-regular-expressions.ts'
import { findSlowShapes, hostileTexts } from '../../scripts/regular-expression-shape.ts'
import { boundToTest } from '../support/bound-to-test.ts'

const HOUSE = join(import.meta.dir, '../..')

/**
 * Expressions whose shape looks slow and that were looked at: path, the expression, and why it is
 * not.
 */
const REVIEWED: readonly (readonly [path: string, source: string, reason: string])[] = [
  [
    'src/admin/refusals.ts',
    String.raw`\b(sk-svc-|svc_|legacy_)[\x21\x23-\x5b\x5d-\x7e]{8,}(?<!:)`,
    'fails after its repeat only where nothing but colons follows, and no other beginning is among these',
  ],
  [
    'src/sandbox/count-tokens.ts',
    String.raw` ?\p{L}{1,7}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]{1,3}|\s+(?!\S)|\s`,
    'gives one space back and matches; a single space fails at once. The sandbox only',
  ],
  [
    'src/sandbox/parse-model.ts',
    String.raw`^([a-z]+(?:-[a-z]+)*)(?:-(\d{1,9}))?$`,
    'each round of the inner repeat begins with a hyphen, which its letters cannot be. The sandbox only',
  ],
]

/** The places where expressions are built from text: path, number and source. */
const MADE: readonly (readonly [path: string, count: number, reason: string])[] = [
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
]

/** Far beyond any header; a time that grows with its square would be hours. */
const LENGTH = 1_000_000
/** No machine takes so long for what grows with the text. */
const KILL_AFTER_MS = 240_000

interface Placed extends FoundExpression {
  readonly path: string
}

const sources = [...new Bun.Glob('src/**/*.ts').scanSync({ cwd: HOUSE })]
  .filter((path) => !/\.(?:test|fixture|generated)\.ts$/.test(path))
  .sort()
  .map((path) => ({ path, found: findRegularExpressions(readFileSync(join(HOUSE, path), 'utf8')) }))
const literals: Placed[] = sources.flatMap(({ path, found }) =>
  found.literals.map((literal) => ({ path, ...literal })),
)

test('the search finds literals', () => {
  expect(literals.length).toBeGreaterThan(100)
})

test('no literal has two repeats that can share characters, unless it was reviewed', () => {
  const slow = literals
    .map((literal) => ({ ...literal, reasons: findSlowShapes(literal.source, literal.flags) }))
    .filter(({ reasons }) => reasons.length > 0)
  const unknown = slow.filter(({ path, source }) => !isReviewed(path, source))
  expect(
    unknown.map(({ path, source, reasons }) => `${path}: /${source}/ ${reasons[0]?.reason}`),
  ).toEqual([])
  const stale = REVIEWED.filter(([path, source]) =>
    slow.every((found) => found.path !== path || found.source !== source),
  )
  expect(stale).toEqual([])
})

test('expressions built from text at run time are listed', () => {
  const made = sources
    .filter(({ found }) => found.made > 0)
    .map(({ path, found }) => [path, found.made])
  expect(made).toEqual(MADE.map(([path, count]) => [path, count]))
})

test('every literal comes to an end on a million hostile characters', async () => {
  const tried = literals.filter(({ path, source }) => !isReviewed(path, source))
  const child = Bun.spawn(
    boundToTest([process.execPath, join(import.meta.dir, 'run-expressions.fixture.ts')]),
    {
      env: { PATH: process.env.PATH ?? '' },
      stdin: new Blob([
        tried.map((literal) => JSON.stringify({ ...literal, length: LENGTH })).join('\n'),
      ]),
      stdout: 'pipe',
      stderr: 'inherit',
      timeout: KILL_AFTER_MS,
      killSignal: 'SIGKILL',
    },
  )
  const ended = new Set(
    (await new Response(child.stdout).text()).split('\n').filter((line) => line !== ''),
  )
  const unended = tried.filter(({ path, source }) => !ended.has(JSON.stringify([path, source])))
  expect(unended.map(({ path, source }) => `${path}: /${source}/`)).toEqual([])
}, 300_000)

test.each([
  ['^\\s*a\\s*(?:;\\s*b\\s*)?;?\\s*$', 'i', 'two repeats'],
  ['\\s+$', '', 'begun anew'],
  ['^(?:a+)+$', '', 'two repeats'],
  ['^(?:a|ab)*$', '', 'begin alike'],
  ['^(?:a*)*$', '', 'may be empty'],
  ['^[^@]+\\.[^@]+$', '', 'two repeats'],
])('/%s/%s counts as slow: %s', (source, flags, reason) => {
  expect(
    findSlowShapes(source, flags)
      .map((finding) => finding.reason)
      .join(),
  ).toContain(reason)
})

test.each([
  ['^Bearer +(\\S+) *$', 'i'],
  ['^(?:\\/[\\w.]+)+$', ''],
  ['[^a-z]+', 'g'],
  ['^data:([^;,]+)(?:;[^,]*)?;base64,', 'i'],
  ['^[a-z]{1,63}(?:\\.[a-z]{1,63})*$', ''],
])('/%s/%s does not', (source, flags) => {
  expect(findSlowShapes(source, flags)).toEqual([])
})

test('hostile texts have the requested length', () => {
  expect(hostileTexts('^\\s*;\\s*$', '', 100).every((text) => text.length >= 100)).toBeTrue()
})

function isReviewed(path: string, source: string): boolean {
  return REVIEWED.some(([known, text]) => known === path && text === source)
}
