/**
 * Settings that documents, deployments and messages name are settings, and a default that stands
 * beside a name is the setting's.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { settingsPage } from '../../scripts/settings-page.ts'
import { SETTINGS } from '../../src/config/setting-table.ts'
import type { Setting } from '../../src/config/setting-type.ts'
import { describeDefault } from '../../src/config/setting-type.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { baseUrlVariableOf, keyVariableOf } from '../../src/providers/define.ts'

const HOUSE = resolve(import.meta.dir, '../..')
/** Decisions and the changelog tell of settings that have gone. */
const TEXTS = [
  'README.md',
  'AGENTS.md',
  'CONTRIBUTING.md',
  'docs/*.md',
  'docs/guides/*.md',
  'docs/operations/*.md',
  'deploy/**/*',
  'compose.yaml',
  '.env.example',
  'Dockerfile',
  'src/**/*.ts',
  'web/**/*.{ts,tsx}',
]
const settings: Readonly<Record<string, Setting>> = SETTINGS
/**
 * compose.yaml's own, that of a developer's long tests, a constant of the code, and how the
 * variables of the caps begin.
 */
const OTHERS = ['GATEHOUSE_BIND', 'GATEHOUSE_CHAOS', 'GATEHOUSE_CHAT', 'GATEHOUSE_MAX_']
const ofProviders = catalog.flatMap((provider) => [
  keyVariableOf(provider),
  baseUrlVariableOf(provider),
  ...Object.values(provider.composedBaseUrl?.parts ?? {}).map(({ variable }) => variable),
])

const texts = TEXTS.flatMap((pattern) => [
  ...new Bun.Glob(pattern).scanSync({ cwd: HOUSE, dot: true }),
])
  // Tests misspell some on purpose.
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(HOUSE, path), 'utf8') }))

function isSetting(name: string): boolean {
  return Object.hasOwn(settings, name)
}

test('a name that begins with GATEHOUSE_ is a setting', () => {
  const named = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\bGATEHOUSE_[A-Z0-9_]+/g)].map(([name]) => ({ path, name })),
  )
  expect(named.length).toBeGreaterThan(150)
  const isOther = (name: string) => OTHERS.includes(name) || name.startsWith('GATEHOUSE_TEST_')
  expect(named.filter(({ name }) => !isSetting(name) && !isOther(name))).toEqual([])
})

test('a number that stands in brackets behind a setting is its default', () => {
  const said = texts.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /\b([A-Z]+(?:_[A-Z0-9]+)+)`? \(([\d,.]+(?: (?:ms|s|min|h|KiB|MiB|GiB))?)\)/g,
      ),
    ].map(([, name = '', value = '']) => ({ path, name, value: value.replaceAll(',', '') })),
  )
  const stated = said.filter(({ name }) => isSetting(name))
  expect(stated.length).toBeGreaterThan(3)
  for (const { path, name, value } of stated) {
    const setting = settings[name]
    const described = setting === undefined ? undefined : describeDefault(setting)
    expect({ path, name, default: [described?.written, described?.inWords] }).toEqual({
      path,
      name,
      default: expect.arrayContaining([value]),
    })
  }
})

test('.env.example holds only settings, variables of providers, and those of compose.yaml', () => {
  const example = readFileSync(join(HOUSE, '.env.example'), 'utf8')
  const names = [...example.matchAll(/\b([A-Z][A-Z0-9_]+)=/g)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(8)
  const nodes: unknown = parse(readFileSync(join(HOUSE, 'compose.yaml'), 'utf8'), { merge: true })
  const used = [...JSON.stringify(nodes).matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  const unknown = names.filter(
    (name) => !isSetting(name) && !ofProviders.includes(name) && !used.includes(name),
  )
  expect(unknown).toEqual([])
})

test('the page has a row for every setting and every provider, with as many cells as its head', () => {
  const lines = settingsPage().split('\n')
  for (const name of [...Object.keys(settings), ...ofProviders])
    expect({ name, lines: lines.filter((line) => line.includes(`\`${name}\``)) }).toEqual({
      name,
      lines: expect.arrayContaining([expect.stringMatching(/^\|/)]),
    })
  const cells = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split(/(?<!\\)\|/).length)
  expect([...new Set(cells)]).toEqual([6])
})

test('the page keeps a bar and an asterisk of a sentence from being Markdown', () => {
  const settings: Record<string, Setting> = {
    A_B: { type: { type: 'text' }, without: 'none', sentence: 'a|b or *.c' },
  }
  expect(settingsPage([{ title: 'T', settings }], [])).toContain(
    '| `A_B` | a\\|b or \\*.c | text | none |',
  )
})
