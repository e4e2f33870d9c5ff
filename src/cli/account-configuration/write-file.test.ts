/**
 * A written file is read again unchanged, whatever its users typed, and its order has no meaning.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { label } from '../../contract/text.ts'
import { CliError } from '../cli-error.ts'
import type { JsonObject } from '../client.ts'
import { readFile, toFileText } from './configuration-file.ts'
import { KINDS, type Kind, toCompact, toComplete } from './kinds.ts'

const typed = (minLength: number, maxLength: number) =>
  fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength, maxLength }),
      fc.string({
        unit: fc.constantFrom(
          ' ',
          '\n',
          '\t',
          '\r',
          '#',
          ':',
          '-',
          '|',
          '>',
          "'",
          '"',
          '\\',
          'a',
          '0',
          '\u2028',
        ),
        minLength,
        maxLength,
      }),
      fc.constantFrom(
        'null',
        'true',
        'yes',
        '1e3',
        '0x10',
        '2026-11-21',
        '---',
        '...',
        '~',
        '[',
        '? a',
        '&a *a',
      ),
    )
    .filter(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the contract refuses them
      (text) => text.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text),
    )

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,8}$/)
const target = fc.record(
  {
    model: fc.stringMatching(/^[a-z]{1,5}\/[\x21-\x7e]{1,12}$/),
    weight: fc.integer({ min: 1, max: 1000 }),
  },
  { requiredKeys: ['model'] },
)
const gate = fc.record(
  {
    id,
    displayName: typed(1, 40).filter((name) => label({ min: 1, max: 40 }).safeParse(name).success),
    description: typed(0, 80),
    targets: fc.array(target, { minLength: 1, maxLength: 4 }),
    strategy: fc.constantFrom('fallback', 'weighted', 'fastest'),
    hedgeAfterMs: fc.option(fc.integer({ min: 1, max: 1000 })),
    defaults: fc.record(
      {
        instructions: typed(1, 200),
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
        maxOutputTokens: fc.integer({ min: 1, max: 1e9 }),
        reasoningEffort: fc.constantFrom('none', 'high'),
      },
      { requiredKeys: [] },
    ),
    overrides: fc.constantFrom('ignore', 'reject', 'allow'),
    maxRetries: fc.integer({ min: 0, max: 5 }),
    fuse: fc.option(
      fc.record(
        {
          usd: fc.integer({ min: 1, max: 100 }),
          callsPerMinute: fc.option(fc.integer({ min: 1, max: 100 })),
          forMinutes: fc.integer({ min: 1, max: 60 }),
        },
        { requiredKeys: ['usd'] },
      ),
    ),
  },
  { requiredKeys: ['id', 'targets'] },
)

const kindOf = (section: Kind['section']): Kind => {
  const kind = KINDS.find((candidate) => candidate.section === section)
  if (kind === undefined) throw new Error(section)
  return kind
}
const textOf = (kind: Kind, entries: readonly JsonObject[]) =>
  toFileText(new Map([[kind, entries.map((entry) => ({ entry }))]]))
const GATES = kindOf('gates')

test.each([' \n', '\n a', 'a \n', ' a', 'a\n\n'])(
  'space at the ends of a text is kept: %j',
  (description) => {
    const text = textOf(GATES, [
      toComplete(GATES, { id: 'a', description, targets: [{ model: 'a/b' }] }),
    ])
    expect(readFile('x', text).entries.get(GATES)?.[0]?.entry).toMatchObject({ description })
  },
)

test('gates of any kind come back from their text unchanged, in the order of the file', () => {
  const gates = fc.uniqueArray(gate, { selector: (entry) => entry.id, maxLength: 5 })
  fc.assert(
    fc.property(gates, (list) => {
      const complete = list.map((entry) => toComplete(GATES, entry))
      const text = textOf(GATES, complete)
      const read =
        readFile('x', text)
          .entries.get(GATES)
          ?.map(({ entry }) => entry) ?? []
      expect(read.toSorted(byId)).toEqual(complete.toSorted(byId))
      expect(textOf(GATES, read.toReversed())).toBe(text)
    }),
    { numRuns: 100 },
  )
})

function byId(a: JsonObject, b: JsonObject): number {
  return String(a.id) < String(b.id) ? -1 : 1
}

test.each([
  [
    'gates',
    {
      id: 'a',
      displayName: 'a',
      description: '',
      targets: [{ model: 'x/y', weight: 1 }],
      maxRetries: 0,
      fuse: null,
    },
    { id: 'a', targets: [{ model: 'x/y' }] },
  ],
  [
    'gates',
    {
      ...{ id: 'a', targets: [{ model: 'x/y' }], defaults: { temperature: 1 } },
      fuse: { usd: 5, callsPerMinute: null, forMinutes: 5 },
    },
    { id: 'a', targets: [{ model: 'x/y' }], defaults: { temperature: 1 }, fuse: { usd: 5 } },
  ],
  [
    'ownedModels',
    {
      slug: 'a',
      displayName: 'a',
      dialect: 'openai-chat',
      baseUrl: 'https://x',
      upstreamModelId: 'm',
      pricingInput: 3,
      pricingOutput: 0,
      pricingCachedInput: 3,
    },
    {
      slug: 'a',
      dialect: 'openai-chat',
      baseUrl: 'https://x',
      upstreamModelId: 'm',
      pricingInput: 3,
    },
  ],
  [
    'budgets',
    { name: 'g', gateId: 'g', limitUsd: 2, period: 'day', alertAt: [1, 0.5, 0.8], fuse: null },
    { gateId: 'g', limitUsd: 2, period: 'day', unpriced: 'estimate' },
  ],
  [
    'budgets',
    {
      ...{ scope: 'account', limitTokens: 9, period: 'day' },
      fuse: { usd: null, callsPerMinute: 60, forMinutes: 2 },
    },
    {
      ...{ scope: 'account', limitTokens: 9, period: 'day', unpriced: 'estimate' },
      fuse: { callsPerMinute: 60, forMinutes: 2 },
    },
  ],
  [
    'webhooks',
    { url: 'https://x', events: ['budget.threshold', 'budget.exhausted'], active: true },
    { url: 'https://x', events: ['budget.exhausted', 'budget.threshold'] },
  ],
  ['tags', { name: 'live', description: '' }, { name: 'live' }],
] as const)(
  'a file of %s holds only values that differ from the defaults',
  (section, given, compact) => {
    const kind = kindOf(section)
    expect(toCompact(kind, toComplete(kind, given))).toEqual(compact)
  },
)

test('a written file that is cut off at the end of any line is refused', () => {
  const gates = ['a', 'b'].map((id) => ({ id, targets: [{ model: 'x/y' }], maxRetries: 1 }))
  const tags = [{ name: 'live' }, { name: 'team-a', members: ['ann@example.test'] }]
  const complete = (section: Kind['section'], given: readonly object[]) => {
    const kind = kindOf(section)
    return [kind, given.map((entry) => ({ entry: toComplete(kind, entry) }))] as const
  }
  const text = toFileText(new Map([complete('gates', gates), complete('tags', tags)]))
  expect(readFile('file', text).entries.size).toBe(2)
  const lines = text.split('\n')
  for (let whole = 0; whole < lines.length - 1; whole += 1) {
    const cut = lines.slice(0, whole).join('\n')
    expect(() => readFile('file', cut)).toThrow(CliError)
  }
  const cut = text.slice(0, text.indexOf('  - name: team-a'))
  expect(() => readFile('file', cut)).toThrow("the line '# End of the file' is missing")
})

test('an end in Windows’ spelling counts, lines may follow, and files without the promise need none', () => {
  const text = toFileText(new Map())
  const spellings = [text.replaceAll('\n', '\r\n'), `${text}tags: []\n`, 'version: 1\ntags: []\n']
  for (const spelling of spellings) expect(() => readFile('file', spelling)).not.toThrow()
})
