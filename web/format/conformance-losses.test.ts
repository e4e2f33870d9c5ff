import { expect, test } from 'bun:test'
import { findLosses } from './conformance-losses.ts'

const lossy = (field: string) => ({ verdict: 'lossy' as const, fields: [field] })
const whole = { verdict: 'lossless' as const }
const table = [
  {
    endpoint: '/v1/messages',
    targets: [
      { provider: 'p', models: ['big'] },
      { provider: 'one', models: [] },
    ],
    results: {
      text: whole,
      seed: lossy('seed'),
      topK: { verdict: 'refused' as const, message: 'No top_k.' },
    },
  },
  {
    endpoint: '/v1/messages',
    targets: [{ provider: 'p', models: ['small'] }],
    results: {
      text: whole,
      seed: lossy('seed'),
      topK: whole,
      stop: { verdict: 'absent' as const },
    },
  },
  {
    endpoint: '/v1/chat/completions',
    targets: [{ provider: 'one', models: [] }],
    results: { text: { verdict: 'relayed' as const } },
  },
]

const told = (target: string) =>
  findLosses(table, target).map(({ endpoint, losses }) => [
    endpoint,
    losses?.map(
      ({ label, detail, isOfSomeModels }) =>
        `${label}: ${detail}${isOfSomeModels ? ' (some)' : ''}`,
    ),
  ])

test('a model of the table has the losses of its kind', () => {
  expect(told('p/big')).toEqual([
    ['/v1/messages', ['top k: No top_k.', 'seed: seed']],
    ['/v1/chat/completions', undefined],
  ])
  expect(told('p/small')[0]).toEqual(['/v1/messages', ['stop sequences: absent', 'seed: seed']])
})

test('a model missing from the table has the losses of every kind, and marks those of some models', () => {
  expect(told('p/new/er')[0]).toEqual([
    '/v1/messages',
    ['top k: No top_k. (some)', 'stop sequences: absent (some)', 'seed: seed'],
  ])
})

test('the name does not matter if all models of a provider are alike; a relayed format loses nothing', () => {
  expect(told('one/any')).toEqual([
    ['/v1/messages', ['top k: No top_k.', 'seed: seed']],
    ['/v1/chat/completions', []],
  ])
})

test.each(['owned/house', 'nobody/x', '', 'p'])('%p gets no claim', (target) => {
  expect(findLosses(table, target)).toEqual([])
})
