/** A sentence for each of the design's budgets: met or not, and by how much. The reasons are in preface.md. */
import { type Figures, format, type Results } from './report.ts'

interface Budget {
  readonly text: string
  /** The measured figure and its bar, in the budget's own unit; undefined when it was not measured. */
  readonly figure: (figures: Figures) => number | undefined
  readonly bar: number
  readonly isAtLeast?: boolean
  readonly unit: string
}

const value = (figures: Figures, measure: string, name = 'gatehouse') => figures[measure]?.[name]

function quotient(figures: Figures, measure: string, peer: string): number | undefined {
  const ours = value(figures, measure)
  const theirs = value(figures, measure, peer)
  return ours === undefined || theirs === undefined ? undefined : ours / theirs
}

function added(figures: Figures, measure: string): number | undefined {
  const ours = value(figures, measure)
  const theirs = value(figures, measure, 'direct')
  return ours === undefined || theirs === undefined ? undefined : ours - theirs
}

const BUDGETS: readonly Budget[] = [
  {
    text: '1 KB bodies, 64 connections: calls a second at least 0.5 × nginx',
    figure: (figures) => quotient(figures, '1 KB, 64 connections: calls/s', 'nginx'),
    bar: 0.5,
    isAtLeast: true,
    unit: '× nginx',
  },
  {
    text: '1 KB bodies, 64 connections: calls a second at least 10 × Portkey',
    figure: (figures) => quotient(figures, '1 KB, 64 connections: calls/s', 'portkey'),
    bar: 10,
    isAtLeast: true,
    unit: '× Portkey',
  },
  {
    text: 'added latency at 1,000 calls a second, p50 at most 0.15 ms',
    figure: (figures) => added(figures, '1000 calls/s: p50, ms'),
    bar: 0.15,
    unit: 'ms over direct',
  },
  {
    text: 'added latency at 1,000 calls a second, p99 at most 1 ms',
    figure: (figures) => added(figures, '1000 calls/s: p99, ms'),
    bar: 1,
    unit: 'ms over direct',
  },
  {
    text: 'a relayed event, same dialect: at most 10 µs of processor time',
    figure: (figures) => value(figures, 'streams of 1,000 events: CPU µs an event'),
    bar: 10,
    unit: 'µs',
  },
  {
    text: 'a translated event: at most 20 µs of processor time',
    figure: (figures) => value(figures, 'streams of 1,000 events: CPU µs an event', 'translated'),
    bar: 20,
    unit: 'µs',
  },
  {
    text: '200 KB bodies: processor time of a call at most 3 × nginx',
    figure: (figures) => quotient(figures, '200 KB, 64 connections: CPU µs a call', 'nginx'),
    bar: 3,
    unit: '× nginx',
  },
  {
    text: '1 MB bodies: processor time of a call at most 3 × nginx',
    figure: (figures) => quotient(figures, '1 MB, 64 connections: CPU µs a call', 'nginx'),
    bar: 3,
    unit: '× nginx',
  },
  {
    text: 'memory when idle: at most 100 MB',
    figure: (figures) => value(figures, 'memory: idle, MB'),
    bar: 100,
    unit: 'MB',
  },
  {
    text: 'memory with 1,000 open streams: at most 200 MB',
    figure: (figures) => value(figures, '1000 open streams: memory, MB'),
    bar: 200,
    unit: 'MB',
  },
  {
    text: 'from start to the first call answered: at most 300 ms',
    figure: (figures) => value(figures, 'start to first call answered, ms'),
    bar: 300,
    unit: 'ms',
  },
]

export function judgeBudgets({ figures, date }: Results): string {
  const lines = BUDGETS.map(({ text, figure, bar, isAtLeast = false, unit }) => {
    const measured = figure(figures)
    if (measured === undefined) return `| ${text} | not measured | |`
    const isMet = isAtLeast ? measured >= bar : measured <= bar
    return `| ${text} | ${isMet ? 'met' : '**not met**'} | ${format(measured)} ${unit} |`
  })
  return [
    `## The budgets, judged by the figures of ${date}`,
    '',
    '| budget | | measured |',
    '|---|---|---:|',
    ...lines,
  ].join('\n')
}
