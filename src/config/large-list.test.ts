/** A file with thousands of entries is read as a small one is: values and lines of faults. */
import { describe, expect, test } from 'bun:test'
import { catalog } from '../providers/catalog.ts'
import { readConfigurationYaml } from './large-list.ts'
import { parseConfiguration } from './parse-configuration.ts'

const COUNT = 3_000

function fileOf(lineOfEntry: (at: number) => string, last = ''): string {
  const entries = Array.from({ length: COUNT }, (_, at) => [
    `  - model: openai/new-${at} # number ${at}`,
    `    prices:`,
    `      - { from: 2026-11-20, input: ${at % 7}, output: 1e1 }`,
    `    ${lineOfEntry(at)}`,
  ]).flat()
  return [
    '# prices',
    'logLevel: warn',
    'models:',
    ...entries,
    '',
    'unpricedPrice: {input: 9}',
    last,
  ].join('\n')
}

const facts = () => 'facts: { contextTokens: 1000 }'

async function faultsOf(text: string): Promise<readonly string[]> {
  try {
    await parseConfiguration({ path: 'f', text }, catalog)
  } catch (thrown) {
    return String(thrown).split('\n').slice(1)
  }
  return []
}

test('gives what the small form of it gives', async () => {
  const text = fileOf(facts)
  expect(text.length).toBeGreaterThan(256 * 1024)
  const { models, logLevel } = await parseConfiguration({ path: 'f', text }, catalog)
  expect([models.size, logLevel, models.unpricedPrice.input]).toEqual([COUNT, 'warn', 9])
  expect(models.find('openai/new-2999')).toEqual({
    model: 'openai/new-2999',
    prices: [{ from: '2026-11-20', input: 2999 % 7, output: 10 }],
    facts: { contextTokens: 1_000 },
  })
})

describe('a fault is named with its line', () => {
  test('in entries and in other sections', async () => {
    const text = fileOf((at) => (at === 7 || at === 2_999 ? 'colour: red' : facts()), 'plan: x')
    expect(await faultsOf(text)).toEqual([
      'f:35: models[7].colour is not a known field',
      'f:12003: models[2999].colour is not a known field',
      'f:12006: plan is not a known field',
    ])
  })

  test('where an entry is no YAML', async () => {
    const text = fileOf((at) => (at === 2_000 ? 'facts: { contextTokens: [1 }' : facts()))
    const faults = await faultsOf(text)
    expect(faults[0]).toMatch(/^f:80\d\d: is not valid YAML here/)
  })

  test('where thousands of entries are faulty, of which the first 200 are named', async () => {
    const faults = await faultsOf(fileOf(() => 'colour: red'))
    expect(faults.slice(198)).toEqual([
      'f:799: models[198].colour is not a known field',
      'f:803: models[199].colour is not a known field',
      'and 2800 more',
    ])
  })

  test('where the section stands twice', async () => {
    expect(await faultsOf(fileOf(facts, 'models: []'))).toEqual([
      'f:12006: is not valid YAML here (duplicate key)',
    ])
  })
})

test('entries may share a value by an anchor', async () => {
  const shared = (at: number) => `facts: ${at === 0 ? '&facts { contextTokens: 1000 }' : '*facts'}`
  const { models } = await parseConfiguration({ path: 'f', text: fileOf(shared) }, catalog)
  expect(models.find('openai/new-2999')?.facts).toEqual({ contextTokens: 1_000 })
})

test('other work runs between the parts of the list', async () => {
  let turns = 0
  let isReading = true
  const count = () => {
    turns += 1
    if (isReading) setImmediate(count)
  }
  setImmediate(count)
  await parseConfiguration({ path: 'f', text: fileOf(facts) }, catalog)
  isReading = false
  expect(turns).toBeGreaterThan(COUNT / 100)
})

test('a list in another form is read by the parser with lines', () => {
  const text = `models: [${Array.from({ length: 9_000 }, (_, at) => `{model: openai/new-model-${at}}`).join(', ')}]`
  const document = readConfigurationYaml(text)
  expect('value' in document && (document.value as { models: unknown[] }).models.length).toBe(9_000)
})
