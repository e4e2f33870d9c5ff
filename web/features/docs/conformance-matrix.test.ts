import { expect, test } from 'bun:test'
import { describeLosses } from '../../format/conformance-losses.ts'
import { type ConformanceEntry, countVerdicts, toMatrix } from './conformance-matrix.ts'

const chat: ConformanceEntry = {
  endpoint: '/chat',
  dialect: 'one',
  targets: [
    { provider: 'b', models: ['large'] },
    { provider: 'a', models: [] },
  ],
  results: {
    text: { verdict: 'lossless' },
    seed: { verdict: 'lossy', fields: ['seed'] },
    audio: { verdict: 'refused', message: 'takes no audio' },
    pdfUrl: { verdict: 'absent' },
  },
}
const small: ConformanceEntry = { ...chat, targets: [{ provider: 'b', models: ['small'] }] }
const other: ConformanceEntry = {
  ...chat,
  endpoint: '/messages',
  targets: [{ provider: 'b', models: [] }],
  results: { text: { verdict: 'relayed' } },
}

test('there is a row for each kind of target, and a cell where an endpoint reaches it', () => {
  const { endpoints, rows } = toMatrix([chat, small, other])
  expect(endpoints).toEqual(['/chat', '/messages'])
  expect(rows.map(({ provider, model, cells }) => [provider, model, [...cells.keys()]])).toEqual([
    ['a', undefined, ['/chat']],
    ['b', 'large', ['/chat', '/messages']],
    ['b', 'small', ['/chat', '/messages']],
  ])
  expect(rows[2]?.cells.get('/chat')).toBe(small)
})

test('verdicts are counted, the worst first, and losses named', () => {
  expect(countVerdicts(chat)).toEqual([
    { verdict: 'refused', count: 1 },
    { verdict: 'absent', count: 1 },
    { verdict: 'lossy', count: 1 },
    { verdict: 'lossless', count: 1 },
  ])
  expect(describeLosses(chat)).toEqual([
    'PDF by URL: absent',
    'audio: takes no audio',
    'seed: seed',
  ])
})
