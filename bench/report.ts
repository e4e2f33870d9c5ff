/** Figures as tables and as ratios. Measures nothing. */

/** Measure → contender → median. */
export type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface Results {
  readonly date: string
  readonly machine: string
  readonly legend: Readonly<Record<string, string>>
  readonly figures: Figures
}

export function toMarkdown({ date, machine, legend, figures }: Results): string {
  const names = [...new Set(Object.values(figures).flatMap((row) => Object.keys(row)))]
  const peers = ['nginx', 'bare Bun', 'portkey'].filter((name) => names.includes(name))
  const rows = Object.entries(figures).map(([measure, row]) => {
    const cells = names.map((name) => format(row[name]))
    const ratios = peers.map((peer) => format(ratio(row, peer)))
    return `| ${[measure, ...cells, ...ratios].join(' | ')} |`
  })
  return [
    '## Every figure',
    '',
    `Measured ${date} on ${machine}. Medians. The contender has one core to itself; generator and upstream share the other.`,
    '',
    ...names.map((name) => `- **${name}**: ${legend[name]}`),
    '',
    `| measure | ${names.join(' | ')} | ${peers.map((peer) => `gatehouse / ${peer}`).join(' | ')} |`,
    `|---|${'---:|'.repeat(names.length + peers.length)}`,
    ...rows,
    '',
  ].join('\n')
}

/** The few lines for the README. */
export function toSummary({ date, figures }: Results): string {
  const shown: readonly (readonly [string, string])[] = [
    ['Calls a second on one core, 1 KB', '1 KB, 64 connections: calls/s'],
    ['… 200 KB', '200 KB, 64 connections: calls/s'],
    ['Processor time of a call, µs', '1 KB, 64 connections: CPU µs a call'],
    ['Latency at 1,000 calls/s, p50, ms', '1000 calls/s: p50, ms'],
    ['Processor time of a streamed event, µs', 'streams of 1,000 events: CPU µs an event'],
    ['Memory, idle, MB', 'memory: idle, MB'],
  ]
  const names = ['nginx', 'bare Bun', 'gatehouse', 'portkey']
  const rows = shown.map(([title, measure]) => {
    const row = figures[measure] ?? {}
    // A second for a call that takes a millisecond is a growing queue, and no latency.
    const cell = (value: number | undefined) =>
      measure.endsWith('ms') && (value ?? 0) > 1000 ? 'cannot keep up' : format(value)
    return `| ${[title, ...names.map((name) => cell(row[name]))].join(' | ')} |`
  })
  return [
    `| ${date} | nginx | a bare Bun proxy | **Gatehouse** | Portkey |`,
    '|---|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n')
}

/** Gatehouse's figure divided by a peer's, for each measure that has both. */
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
  return gatehouse === undefined || other === undefined || other === 0 ? undefined : gatehouse / other
}

export function format(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}
