/**
 * States for each performance budget of the design whether it is met, and by how much. The reasons
 * are in preface.md.
 */
import { type Figures, format, type Results } from './report.ts'

interface Budget {
  readonly text: string
  /** The measured figure in the budget's unit; undefined when it was not measured. */
  readonly figure: (figures: Figures) => number | undefined
  readonly bar: number
  readonly isAtLeast?: boolean
  readonly unit: string
}

const FULL_LOAD = '1 KB, 64 connections'
const EVENTS = 'streams of 1,000 events: CPU µs an event'
const FIRST_EVENT = 'streams: first event, one at a time'
const EVERYDAY_PACES = ['10', '100', '300', '1,000'] as const

const value = (figures: Figures, measure: string, name = 'gatehouse') => figures[measure]?.[name]

function divide(dividend: number | undefined, divisor: number | undefined): number | undefined {
  return dividend === undefined || divisor === undefined ? undefined : dividend / divisor
}

function quotient(
  figures: Figures,
  measure: string,
  peer: string,
  name?: string,
): number | undefined {
  return divide(value(figures, measure, name), value(figures, measure, peer))
}

function added(figures: Figures, measure: string): number | undefined {
  const ours = value(figures, measure)
  const theirs = value(figures, measure, 'direct')
  return ours === undefined || theirs === undefined ? undefined : ours - theirs
}

/** @returns undefined if any value is missing, because the worst of the rest could look met */
function worst(quotients: readonly (number | undefined)[]): number | undefined {
  const known = quotients.filter((one) => one !== undefined)
  return known.length < quotients.length ? undefined : Math.max(...known)
}

function manyConnections(connections: string): readonly Budget[] {
  const label = `1 KB, ${connections} connections`
  return [
    {
      text: `${connections} connections: calls a second at least 0.9 × our own at 64`,
      figure: (figures) =>
        divide(value(figures, `${label}: calls/s`), value(figures, `${FULL_LOAD}: calls/s`)),
      bar: 0.9,
      isAtLeast: true,
      unit: '× our own at 64',
    },
    {
      text: `${connections} connections: upstream connections opened at most as many as calls at once`,
      figure: (figures) => value(figures, `${label}: upstream connections opened`),
      bar: Number(connections.replace(',', '')),
      unit: 'connections',
    },
  ]
}

export const BUDGETS: readonly Budget[] = [
  {
    text: `${FULL_LOAD}, everything on: calls a second at least 0.33 × nginx (aim 0.40)`,
    figure: (figures) => quotient(figures, `${FULL_LOAD}: calls/s`, 'nginx'),
    ...{ bar: 0.33, isAtLeast: true, unit: '× nginx' },
  },
  {
    text: '… processor time of a call at most 3.0 × nginx (aim 2.5)',
    figure: (figures) => quotient(figures, `${FULL_LOAD}: CPU µs a call`, 'nginx'),
    ...{ bar: 3, unit: '× nginx' },
  },
  {
    text: '… processor time of a call at most 1.4 × a bare proxy on fetch',
    figure: (figures) => quotient(figures, `${FULL_LOAD}: CPU µs a call`, 'bare fetch'),
    ...{ bar: 1.4, unit: '× bare fetch' },
  },
  {
    text: 'at 10, 100, 300 and 1,000 calls a second: processor time of a call at most 1.5 × a bare proxy on sockets',
    figure: (figures) =>
      worst(
        EVERYDAY_PACES.map((pace) =>
          quotient(figures, `${pace} calls/s: CPU µs a call`, 'bare sockets'),
        ),
      ),
    ...{ bar: 1.5, unit: '× bare sockets, the worst of the four' },
  },
  ...manyConnections('256'),
  ...manyConnections('1,000'),
  {
    text: 'TLS upstream, 256 connections: calls a second at least 1.5 × a bare proxy on fetch',
    figure: (figures) => quotient(figures, 'TLS upstream, 256 connections: calls/s', 'bare fetch'),
    ...{ bar: 1.5, isAtLeast: true, unit: '× bare fetch' },
  },
  {
    text: 'TLS upstream, 256 connections: no call times out',
    figure: (figures) => value(figures, 'TLS upstream, 256 connections: calls that timed out'),
    ...{ bar: 0, unit: 'calls' },
  },
  {
    text: 'a relayed event, one a ms, 50 streams: processor time at most 1.7 × nginx',
    figure: (figures) => quotient(figures, EVENTS, 'nginx'),
    ...{ bar: 1.7, unit: '× nginx' },
  },
  {
    text: 'a translated event: processor time at most 2.5 × nginx, which relays it',
    figure: (figures) => quotient(figures, EVENTS, 'nginx', 'translated'),
    ...{ bar: 2.5, unit: '× nginx' },
  },
  {
    text: 'the first event, one stream at a time: p50 at most 0.35 ms later than without us',
    figure: (figures) => added(figures, `${FIRST_EVENT}, p50, ms`),
    ...{ bar: 0.35, unit: 'ms over direct' },
  },
  {
    text: '… p99 at most 1 ms later',
    figure: (figures) => added(figures, `${FIRST_EVENT}, p99, ms`),
    ...{ bar: 1, unit: 'ms over direct' },
  },
  {
    text: '1,000 calls a second on one core: p50 at most 0.10 ms later than without us',
    figure: (figures) => added(figures, '1,000 calls/s: p50, ms'),
    ...{ bar: 0.1, unit: 'ms over direct' },
  },
  {
    text: '… p99 at most 0.8 ms later',
    figure: (figures) => added(figures, '1,000 calls/s: p99, ms'),
    ...{ bar: 0.8, unit: 'ms over direct' },
  },
  {
    text: 'full load, 64 connections: p99 at most 2.5 × p50',
    figure: (figures) =>
      divide(value(figures, `${FULL_LOAD}: p99, ms`), value(figures, `${FULL_LOAD}: p50, ms`)),
    ...{ bar: 2.5, unit: '× p50' },
  },
  {
    text: '200 KB bodies: processor time of a call at most 1.8 × nginx',
    figure: (figures) => quotient(figures, '200 KB, 64 connections: CPU µs a call', 'nginx'),
    ...{ bar: 1.8, unit: '× nginx' },
  },
  {
    text: '1 MB bodies: processor time of a call at most 2 × nginx',
    figure: (figures) => quotient(figures, '1 MB, 64 connections: CPU µs a call', 'nginx'),
    ...{ bar: 2, unit: '× nginx' },
  },
  {
    text: 'memory when idle: at most 85 MB',
    figure: (figures) => value(figures, 'memory: idle, MB'),
    ...{ bar: 85, unit: 'MB' },
  },
  {
    text: 'memory at full load: at most 130 MB',
    figure: (figures) => value(figures, 'memory: under load, MB'),
    ...{ bar: 130, unit: 'MB' },
  },
  {
    text: 'memory with 1,000 open streams: at most 130 MB',
    figure: (figures) => value(figures, '1,000 open streams: memory, MB'),
    ...{ bar: 130, unit: 'MB' },
  },
  {
    text: 'from start to the first call answered: at most 250 ms',
    figure: (figures) => value(figures, 'start to first call answered, ms'),
    ...{ bar: 250, unit: 'ms' },
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
    '',
    '[0083](decisions/0083-which-bars-are-missed-and-why.md) says for each missed budget why it is missed and what reaching it would take.',
  ].join('\n')
}
