/** `gatehouse models import` on a configuration file with comments and other sections. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { runCliInProcess } from '../../../test/support/run-cli-in-process.ts'
import {
  createTemporaryFolder,
  type TemporaryFolder,
} from '../../../test/support/temporary-folder.ts'

const BEFORE = `# The operator's file.
logLevel:   warn        # two blanks stay

models:  # prices
  # agreed with the vendor
  - model: openai/gpt-9   # the new one
    prices:
      - {from: 2026-01-15, input: 3, output: 9}   # until spring
    facts: {contextTokens: 1000}
  - model: openai/kept-1
    prices: [{input: 1, output: 1}]

# Plans
plans:
  free: { monthlySpendUsd:    5 }
`

const LIST = {
  openai: {
    models: {
      'gpt-9': { cost: { input: 2, output: 9 }, limit: { context: 2000, output: 100 } },
      'kept-1': { cost: { input: 1, output: 1 } },
      'gpt-10': { cost: { input: 4, output: 16, cache_read: 0.4 }, limit: { context: 3000 } },
    },
  },
  groq: { models: { 'llama-9': { cost: { input: 0.1, output: 0.2 } } } },
  stranger: { models: { x: { cost: { input: 0.1, output: 0.2 } } } },
}

let folder: TemporaryFolder
let file: string
beforeEach(async () => {
  folder = await createTemporaryFolder()
  file = join(folder.path, 'gatehouse.yaml')
  await writeFile(file, BEFORE)
})
afterEach(() => folder.remove())

const run = (words: readonly string[], input: unknown = LIST) =>
  runCliInProcess(['models', 'import', ...words, '--from', '2026-11-28'], {
    environment: { GATEHOUSE_DATA_DIR: folder.path },
    input: typeof input === 'string' ? input : JSON.stringify(input),
  })

test('without --yes the differences are shown, and nothing is written', async () => {
  const { stdout, stderr, exitCode } = await run(['-'])
  expect(exitCode).toBe(0)
  expect(stdout.trimEnd().split('\n')).toEqual([
    '+ openai/gpt-10  $4 in, $16 out',
    '+ groq/llama-9  $0.1 in, $0.2 out',
    '~ openai/gpt-9  $3 in, $9 out → $2 in, $9 out, contextTokens, maxOutputTokens',
    'models.dev: 2 new, 1 changed, 1 the same.',
    'Left out: 1 × a provider that this gateway does not have.',
  ])
  expect(stderr).toContain('with --yes')
  expect(await readFile(file, 'utf8')).toBe(BEFORE)
  expect(await readdir(folder.path)).toEqual(['gatehouse.yaml'])
})

test('with --yes models are written; comments and other sections stay', async () => {
  await chmod(file, 0o640)
  const { stdout } = await run(['-', '--provider', 'openai', '--yes'])
  const after = await readFile(file, 'utf8')
  expect(stdout).toContain(`the earlier file is ${file}.before-import`)
  expect(await readFile(`${file}.before-import`, 'utf8')).toBe(BEFORE)
  expect((await stat(file)).mode & 0o777).toBe(0o640)
  expect(await readdir(folder.path)).toHaveLength(2)
  const [head, tail] = ['models:', '# Plans'].map((mark) => BEFORE.indexOf(mark))
  expect(after).toStartWith(BEFORE.slice(0, head))
  expect(after).toEndWith(BEFORE.slice(tail))
  for (const comment of ['# prices', '# agreed with the vendor', '# the new one', '# until spring'])
    expect(after.split(comment)).toHaveLength(2)
  expect((parse(after) as { models: unknown }).models).toEqual([
    {
      model: 'openai/gpt-9',
      prices: [
        { from: '2026-01-15', input: 3, output: 9 },
        { from: '2026-11-28', input: 2, output: 9 },
      ],
      facts: { contextTokens: 2000, maxOutputTokens: 100 },
    },
    { model: 'openai/kept-1', prices: [{ input: 1, output: 1 }] },
    {
      model: 'openai/gpt-10',
      prices: [{ from: '2026-11-28', input: 4, output: 16, cachedInput: 0.4 }],
      facts: { contextTokens: 3000 },
    },
  ])
})

test('a second import of the same list changes nothing', async () => {
  await run(['-', '--yes'])
  const once = await readFile(file, 'utf8')
  const { stdout } = await run(['-', '--yes', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ new: [], changed: [], same: 4, written: false })
  expect(await readFile(file, 'utf8')).toBe(once)
})

describe('the section is added', () => {
  test.each([
    ['to a file without one', 'logLevel: warn\nplans: {free: {monthlySpendUsd: 5}}'],
    ['to a file whose section is empty', 'models:\nlogLevel: warn\n'],
    ['to a file whose section is []', 'models: []\nlogLevel: warn\n'],
    ['to a file of comments', '# nothing yet\n'],
    ['to an empty file', ''],
  ])('%s', async (_, text) => {
    await writeFile(file, text)
    expect(await run(['-', '--yes'])).toMatchObject({ exitCode: 0 })
    const after = await readFile(file, 'utf8')
    const others = { ...(parse(text) as object | null), models: undefined }
    expect({ ...(parse(after) as object), models: undefined }).toEqual(others)
    expect((parse(after) as { models: object[] }).models).toHaveLength(4)
    if (!text.startsWith('models')) expect(after).toStartWith(text)
  })

  test('to a file that did not exist', async () => {
    const fresh = join(folder.path, 'other')
    const { stdout, stderr } = await runCliInProcess(['models', 'import', '-', '--yes'], {
      environment: { GATEHOUSE_DATA_DIR: fresh },
      input: JSON.stringify(LIST),
    })
    expect({ stdout: stdout.includes('Wrote'), stderr }).toEqual({ stdout: true, stderr: '' })
    expect(await readFile(join(fresh, 'gatehouse.yaml'), 'utf8')).toStartWith('models:\n  - model:')
  })
})

test.each([
  ['another form', '{"models": [1]}', BEFORE, "expected is models.dev's api.json"],
  ['no JSON', 'model,price\n', BEFORE, 'LiteLLM'],
  [
    'a date that is none',
    LIST,
    BEFORE.replace('2026-01-15', 'soon'),
    'gatehouse.yaml:8: models[0]',
  ],
  ['a file in braces', LIST, '{logLevel: warn}', 'cannot be extended'],
  ['a file that is no YAML', LIST, 'a: [', 'is not valid YAML'],
])('%s is refused, and the file stays', async (_, list, text, message) => {
  await writeFile(file, text)
  const ran = await run(['-', '--yes'], list)
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ran.stderr).toContain(message)
  expect(await readFile(file, 'utf8')).toBe(text)
})

test('a date of --from that is none is refused before the file is written', async () => {
  const ran = await runCliInProcess(['models', 'import', '-', '--yes', '--from', 'soon'], {
    environment: { GATEHOUSE_DATA_DIR: folder.path },
    input: JSON.stringify(LIST),
  })
  expect(ran).toMatchObject({ exitCode: 1 })
  expect(ran.stderr).toContain('must be a date such as')
  expect(await readFile(file, 'utf8')).toBe(BEFORE)
})

test('a list of 100 MB is refused with what was expected', async () => {
  const large = join(folder.path, 'large.json')
  await writeFile(large, Buffer.alloc(100 * 1024 * 1024, ' '))
  const ran = await run([large, '--yes'])
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ran.stderr).toMatch(/has more than 64 MiB: nothing was imported; expected is models\.dev/)
})

test('a list that is not there is named', async () => {
  expect((await run(['nowhere.json'])).stderr).toContain('nowhere.json cannot be read')
})
