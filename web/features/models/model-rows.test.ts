import { expect, test } from 'bun:test'
import { parseModelChoices, toModelSearch } from './model-choices.ts'
import { countCalls, findModels, type ModelSources, toModelRows } from './model-rows.ts'

type Provider = ModelSources['providers'][number]
type Model = ModelSources['models'][number]
type Gate = ModelSources['gates'][number]

const provider = (id: string, credential: Provider['credential']) =>
  ({ id, name: id.toUpperCase(), credential }) as Provider
const model = (providerId: string, id: string, input: number | null, more: Partial<Model> = {}) =>
  ({
    ...{ provider: providerId, id, name: null, contextTokens: null },
    ...{ inputUsdPerMillion: input, outputUsdPerMillion: input, ...more },
  }) as Model
const gate = (id: string, strategy: Gate['strategy'], ...targets: string[]) =>
  ({
    ...{ id, displayName: id, strategy, resolvedFacts: {} },
    targets: targets.map((target) => ({ model: target })),
  }) as Gate

const SOURCES: ModelSources = {
  providers: [provider('one', 'own'), provider('two', null)],
  models: [
    model('one', 'x-4', 3, { contextTokens: 1000 }),
    model('one', 'x-5', null, { contextTokens: 9000, inputModalities: ['text', 'image'] }),
    model('two', 'y-1', 1),
  ],
  ownedModels: [],
  gates: [
    gate('several', 'fallback', 'one/x-5', 'one/x-4'),
    gate('single', 'fastest', 'one/x-5'),
    gate('shared', 'weighted', 'one/x-4', 'two/y-1'),
  ],
}
const ALL = { search: '', provider: '', sort: 'provider', isWithoutKey: true } as const
const targets = (rows: readonly { readonly target: string }[]) => rows.map(({ target }) => target)

test('gates come first, then models, current ones first; a member that is absent is unknown', () => {
  const rows = toModelRows(SOURCES)
  expect(targets(rows)).toEqual(['several', 'single', 'shared', 'one/x-5', 'one/x-4', 'two/y-1'])
  expect(rows.at(-1)).toMatchObject({
    ...{ isReachable: false, inputModalities: null, priceSource: null, isAlias: false },
    ...{ isPriceEstimated: false, maxOutputTokens: null },
  })
})

test('the playground opens the gate that asks a model first, preferably without others', () => {
  const gateIds = toModelRows(SOURCES).map(({ target, gateId }) => [target, gateId])
  expect(Object.fromEntries(gateIds)).toMatchObject({ 'one/x-5': 'single' })
  expect(toModelRows(SOURCES).find(({ target }) => target === 'one/x-4')?.gateId).toBeUndefined()
})

test('models are found by words, provider and key, and sorted with unknown figures last', () => {
  const rows = toModelRows(SOURCES)
  const find = (filter: Partial<Parameters<typeof findModels>[1]>) =>
    targets(findModels(rows, { ...ALL, ...filter }, ({ target }) => (target === 'single' ? 2 : 0)))
  expect(find({ search: 'IMAGE one' })).toEqual(['one/x-5'])
  expect(find({ provider: 'two' })).toEqual(['two/y-1'])
  expect(find({ provider: 'two', isWithoutKey: false })).toEqual([])
  expect(find({ sort: 'input' }).slice(0, 2)).toEqual(['two/y-1', 'one/x-4'])
  expect(find({ sort: 'context' }).slice(0, 2)).toEqual(['one/x-5', 'one/x-4'])
  expect(find({ sort: 'calls' })[0]).toBe('single')
  expect(find({ sort: 'name' })[0]).toBe('one/x-4')
})

test('calls behind the last listed group are unknown, and unpriced calls are named', () => {
  const sum = (group: string | null, calls: number, unpricedCalls: number, isRest = false) =>
    ({ group, calls, isRest, cost: { unpricedCalls } }) as never
  const rows = toModelRows(SOURCES)
  const rowOf = (target: string) => rows.find((row) => row.target === target) ?? fail(target)
  const counted = countCalls({
    targets: [
      sum('one/x-4', 7, 0),
      sum('one/x-5', 5, 5),
      sum('other/z', 9, 9),
      sum(null, 1, 0, true),
    ],
    gates: [sum('single', 5, 5)],
  })
  expect(counted.callsOf(rowOf('one/x-4'))).toBe(7)
  expect(counted.callsOf(rowOf('two/y-1'))).toBeUndefined()
  expect([counted.callsOf(rowOf('single')), counted.callsOf(rowOf('shared'))]).toEqual([5, 0])
  expect(counted.unpriced).toEqual([
    { target: 'other/z', calls: 9 },
    { target: 'one/x-5', calls: 5 },
  ])
})

function fail(target: string): never {
  throw new Error(`no row ${target}`)
}

test('choices survive the address, which cannot ask for more than four models', () => {
  const choices = parseModelChoices({
    search: 'a b',
    sort: 'none',
    keys: 'all',
    compare: 'a b c d e',
  })
  expect(choices).toEqual({
    ...{ search: 'a b', provider: '', sort: 'provider', isWithoutKey: true },
    compared: ['a', 'b', 'c', 'd'],
  })
  expect(parseModelChoices(toModelSearch(choices))).toEqual(choices)
  expect(toModelSearch(parseModelChoices({}))).toEqual({})
})
