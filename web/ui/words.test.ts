/**
 * One act has one word on every page, and no form leaves it to the browser to say what is wrong.
 * Reads the pages' sources.
 */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const WEB = join(import.meta.dir, '..')
const pages = [...new Bun.Glob('**/*.tsx').scanSync({ cwd: WEB })].sort()
const linesOf = (path: string) => readFileSync(join(WEB, path), 'utf8').split('\n')

/** Lines that are shown or may be: without comments and imports. */
function findLines(pattern: RegExp): string[] {
  return pages.flatMap((path) =>
    linesOf(path).flatMap((line, index) =>
      pattern.test(line) && !/^\s*(?:\/\/|\/?\*|import\b)/.test(line)
        ? [`${path}:${index + 1} ${line.trim()}`]
        : [],
    ),
  )
}

test('the search finds pages', () => {
  expect(pages.length).toBeGreaterThan(100)
  expect(findLines(/\bCreate\b/).length).toBeGreaterThan(5)
})

describe('acts are called', () => {
  test.each<[string, RegExp]>([
    ['create, not make', /\b(?:Make|Made|[Mm]ake (?:one|another|a new)|is made)\b/],
    [
      'create, not new or add',
      /\bNew (?:gate|key|budget|webhook|model)\b|\bAdd (?:a|an) (?:gate|key|budget|webhook|model)\b/,
    ],
    ['edit, not change', /title=.*\bChange /],
    ['save, not save changes', /\bSave (?:changes|it|the)\b/],
  ])('%s', (_, other) => expect(findLines(other)).toEqual([]))

  test('by the resource and the act, once it is done: “Budget created”', () => {
    const told = pages.flatMap((path) => [
      ...linesOf(path)
        .join('\n')
        .matchAll(
          /(?:toast\(\s*'(?:success|message)',|\bdone(?::(?: \([^)]*\) =>)?(?: \[)?|=\{?\[?))\s*([^\n]*['"`][^\n]+)/g,
        ),
    ])
    expect(told.length).toBeGreaterThan(20)
    const sentences = told
      .map(([, text = '']) => text.replace(/, \{.*/, ''))
      .filter((text) => /\b(?:is|are|has|have) /.test(text))
    expect(sentences).toEqual([])
  })
})

test('no form uses the browser’s validation, which has its own language and look', () => {
  // `Form` says it at the field; the others have nothing that must be filled in.
  const checked = pages.filter((path) =>
    /<form(?![^>]*\bnoValidate\b)/.test(linesOf(path).join('\n')),
  )
  expect(checked).toEqual([])
})
