import { expect, test } from 'bun:test'
import { CALLS, LATENCY_P50 } from '../../format/usage-measures.ts'
import { describeChart } from './chart-series.ts'
import { fillSteps, type StepSum } from './fill-steps.ts'

const none = { p50: null, p95: null, p99: null }

function sum(start: string, calls: number, p50: number | null = null): StepSum {
  return {
    start,
    calls,
    errors: 0,
    tokens: { input: 0, output: 0 },
    cost: { usd: 0, estimatedCalls: 0, unknownCalls: 0 },
    durationMs: { ...none, p50 },
    firstByteMs: none,
  }
}

const period = { fromMs: Date.parse('2026-11-15'), toMs: Date.parse('2026-11-18') }

test('a step without calls counts nothing, and has no latency', () => {
  const filled = { period, step: 'day', sums: [sum('2026-11-16T00:00:00.000Z', 7, 80)] } as const
  expect(fillSteps(filled, CALLS).map(({ value }) => value)).toEqual([0, 7, 0])
  expect(fillSteps(filled, LATENCY_P50).map(({ value }) => value)).toEqual([null, 80, null])
})

test('the first month of a period that begins within it is included', () => {
  const filled = { period, step: 'month', sums: [sum('2026-11-01T00:00:00.000Z', 3)] } as const
  expect(fillSteps(filled, CALLS)).toEqual([{ startMs: period.fromMs, value: 3 }])
})

test('a chart is described by the highest value of each series', () => {
  const rows = [
    { startMs: 1, values: { a: 2, b: 0 } },
    { startMs: 2, values: { a: 5, b: null } },
  ]
  const series = [
    { key: 'a', label: 'Calls', color: '', look: 'line' },
    { key: 'b', label: 'Errors', color: '', look: 'line' },
  ] as const
  const shown = { step: 'hour', unit: 'calls', format: String, runningFromMs: undefined } as const
  const data = { rows, series, ...shown }
  expect(describeChart(data, String)).toBe('From 1 to 2. Calls: at most 5, 2. Errors: none.')
  expect(describeChart({ ...data, runningFromMs: 2 }, String)).toEndWith(
    ' The last step is not over yet.',
  )
  expect(describeChart({ ...data, rows: [] }, String)).toBe('No data.')
})
