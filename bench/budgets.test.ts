import { expect, test } from 'bun:test'
import { BUDGETS, judgeBudgets } from './budgets.ts'
import type { Figures } from './report.ts'

const judge = (figures: Figures) =>
  judgeBudgets({ date: '2026-11-22', machine: 'a test', legend: {}, figures }).split('\n')

const rowOf = (rows: readonly string[], words: string) =>
  rows.filter((row) => row.startsWith('|') && row.includes(words))

test('a ratio is taken of two contenders of the same run, and held against its bar', () => {
  const figures = (ours: number): Figures => ({
    '200 KB, 64 connections: CPU µs a call': { nginx: 100, gatehouse: ours },
  })
  expect(rowOf(judge(figures(180)), '200 KB')[0]).toEndWith('| met | 1.80 × nginx |')
  expect(rowOf(judge(figures(181)), '200 KB')[0]).toEndWith('| **not met** | 1.81 × nginx |')
})

test('a bar is met from its own value on', () => {
  const figures = (ours: number): Figures => ({
    'TLS upstream, 256 connections: calls/s': { 'bare fetch': 10_000, gatehouse: ours },
  })
  expect(rowOf(judge(figures(15_000)), '1.5 × a bare proxy on fetch')[0]).toContain('| met |')
  expect(rowOf(judge(figures(14_900)), '1.5 × a bare proxy on fetch')[0]).toContain(
    '| **not met** |',
  )
})

test('a single call that times out is one too many', () => {
  const figures = (timedOut: number): Figures => ({
    'TLS upstream, 256 connections: calls that timed out': { gatehouse: timedOut },
  })
  expect(rowOf(judge(figures(0)), 'no call times out')[0]).toContain('| met | 0.00 calls |')
  expect(rowOf(judge(figures(1)), 'no call times out')[0]).toContain('| **not met** |')
})

test('added latency is the difference to no gateway at all', () => {
  const rows = judge({ '1,000 calls/s: p50, ms': { direct: 1.2, gatehouse: 1.29, nginx: 1.25 } })
  expect(rowOf(rows, '1,000 calls a second on one core: p50')[0]).toContain(
    '| met | 0.09 ms over direct |',
  )
})

test('everyday paces are judged by the worst, and not at all while one is missing', () => {
  const pace = (perSecond: string, ours: number): Figures => ({
    [`${perSecond} calls/s: CPU µs a call`]: { 'bare sockets': 100, gatehouse: ours },
  })
  const three = { ...pace('10', 120), ...pace('100', 160), ...pace('300', 110) }
  expect(rowOf(judge(three), '10, 100, 300')[0]).toContain('| not measured |')
  const all = { ...three, ...pace('1,000', 100) }
  expect(rowOf(judge(all), '10, 100, 300')[0]).toContain('| **not met** | 1.60 ×')
})

test('a missing measurement is marked as not measured, and counts as neither met nor missed', () => {
  const rows = judge({})
  expect(rowOf(rows, 'not measured')).toHaveLength(BUDGETS.length)
  expect(rows.join('\n')).not.toMatch(/\| met \||\*\*not met\*\*/)
})
