/** Formats figures as tables and as ratios. */

import { describePace, describeQuietness, isQuiet, isSteady, type Look } from './quietness.ts'

/** Measure → contender → median. */
export type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface Results {
  readonly date: string
  readonly machine: string
  readonly legend: Readonly<Record<string, string>>
  /** Looks before, between and after the rounds. Undefined in results of earlier versions. */
  readonly looks?: readonly Look[]
  /** Results of `measurePace` between the contenders. Undefined in results of earlier versions. */
  readonly paces?: readonly number[]
  /** Contender or scenario → the reason for its missing figures. */
  readonly notMeasured?: Readonly<Record<string, string>>
  readonly figures: Figures
}

export function toMarkdown({
  date,
  machine,
  legend,
  figures,
  looks = [],
  paces = [],
  notMeasured = {},
}: Results): string {
  const names = [...new Set(Object.values(figures).flatMap((row) => Object.keys(row)))]
  const peers = ['nginx', 'bare fetch', 'bare sockets', 'litellm'].filter((name) =>
    names.includes(name),
  )
  const rows = Object.entries(figures).map(([measure, row]) => {
    const cells = names.map((name) => format(row[name]))
    const ratios = peers.map((peer) => format(ratio(row, peer)))
    return `| ${[measure, ...cells, ...ratios].join(' | ')} |`
  })
  return [
    '## Every figure',
    '',
    `Measured ${date} on ${machine}. The figures are medians. Each contender has one core to itself; generator and upstream share the other core.`,
    ...(looks.length === 0
      ? []
      : ['', `${describeQuietness(looks)} ${describePace(paces)}`.trim()]),
    '',
    ...names.map((name) => `- **${name}**: ${legend[name]}`),
    ...Object.entries(notMeasured).map(
      ([name, reason]) => `- **${name}**: not measured: ${reason}`,
    ),
    '',
    `| ${['measure', ...names, ...peers.map((peer) => `gatehouse / ${peer}`)].join(' | ')} |`,
    `|---|${'---:|'.repeat(names.length + peers.length)}`,
    ...rows,
    '',
  ].join('\n')
}

/** Summary for the README. */
export function toSummary({
  date,
  figures,
  looks = [],
  paces = [],
  notMeasured = {},
}: Results): string {
  const rate = '1 KB, 64 connections: calls/s'
  const shown: readonly (readonly [string, string])[] = [
    ['Calls a second on one core, 1 KB', rate],
    ['… 200 KB', '200 KB, 64 connections: calls/s'],
    ['Processor time of a call, µs', '1 KB, 64 connections: CPU µs a call'],
    ['Latency at 1,000 calls/s, p50, ms', '1,000 calls/s: p50, ms'],
    ['Processor time of an event, streams of 100, µs', 'streams of 100 events: CPU µs an event'],
    ['Memory, idle, MB', 'memory: idle, MB'],
  ]
  const names = ['nginx', 'bare fetch', 'gatehouse', 'litellm', 'portkey']
  const rows = shown.map(([title, measure]) => {
    const cell = (name: string) => {
      if (notMeasured[name] !== undefined) return 'not measured'
      const isTooSlow =
        measure.startsWith('1,000 calls/s') && (figures[rate]?.[name] ?? 1000) < 1000
      return isTooSlow ? 'cannot keep up' : format(figures[measure]?.[name])
    }
    return `| ${[title, ...names.map(cell)].join(' | ')} |`
  })
  return [
    headline(figures[rate] ?? {}),
    '',
    `| ${date} | nginx | a bare Bun proxy | **Gatehouse** | LiteLLM | Portkey |`,
    '|---|---:|---:|---:|---:|---:|',
    ...rows,
    '',
    ...(isQuiet(looks) && isSteady(paces)
      ? []
      : [
          'The machine was not quiet or not steady while these were measured: they are a trial.',
          '',
        ]),
  ].join('\n')
}

/** The sentence above the table, from its first row. */
function headline(row: Readonly<Record<string, number>>): string {
  const toNginx = ratio(row, 'nginx')
  const toLitellm = ratio(row, 'litellm')
  const beside = [
    ...(toNginx === undefined ? [] : [`${format(toNginx)} × nginx`]),
    ...(toLitellm === undefined ? [] : [`${format(toLitellm)} × LiteLLM`]),
  ]
  return `**Fast.** ${[`${format(row.gatehouse)} small calls a second on one core`, ...beside].join(', ')}, with keys, limits and ledger on:`
}

/** Gatehouse's figure divided by a peer's, for each measure that both have. */
export function toRatios(figures: Figures, peer: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).flatMap(([measure, row]) => {
      const value = ratio(row, peer)
      return value === undefined ? [] : [[measure, value]]
    }),
  )
}

function ratio(row: Readonly<Record<string, number>>, peer: string): number | undefined {
  const { gatehouse } = row
  const other = row[peer]
  return gatehouse === undefined || other === undefined || other === 0
    ? undefined
    : gatehouse / other
}

export function format(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}
