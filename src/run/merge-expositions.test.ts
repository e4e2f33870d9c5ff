import { expect, test } from 'bun:test'
import { mergeExpositions } from './merge-expositions.ts'

const page = (calls: number) =>
  [
    '# HELP calls_total Calls.',
    '# TYPE calls_total counter',
    `calls_total{gate="a } {\\" b"} ${calls}`,
    `calls_total{gate="c"} 1`,
    '',
    '# HELP lag Lag.',
    '# TYPE lag gauge',
    'lag 0.5',
    '',
    '# HELP breakers Nothing to say.',
    '# TYPE breakers gauge',
    '',
  ].join('\n')

test('each series is labelled with its worker, and those of one metric stand under one heading', () => {
  const merged = mergeExpositions([
    { worker: 0, text: page(2) },
    { worker: 3, text: page(7) },
  ])
  expect(merged.split('\n')).toEqual([
    '# HELP calls_total Calls.',
    '# TYPE calls_total counter',
    'calls_total{worker="0",gate="a } {\\" b"} 2',
    'calls_total{worker="0",gate="c"} 1',
    'calls_total{worker="3",gate="a } {\\" b"} 7',
    'calls_total{worker="3",gate="c"} 1',
    '',
    '# HELP lag Lag.',
    '# TYPE lag gauge',
    'lag{worker="0"} 0.5',
    'lag{worker="3"} 0.5',
    '',
  ])
})

test('the page is empty without an answer of any worker', () => {
  expect(mergeExpositions([])).toBe('')
  expect(mergeExpositions([{ worker: 0, text: '' }])).toBe('')
})
