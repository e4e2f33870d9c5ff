/** Figures as a table and as ratios. Measures nothing. */

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
  const ratios = toRatios(figures)
  const rows = Object.entries(figures).map(([measure, row]) => {
    const cells = names.map((name) => format(row[name]))
    return `| ${[measure, ...cells, format(ratios[measure])].join(' | ')} |`
  })
  return [
    `Measured ${date} on ${machine}. Medians; contender on one core, generator and upstream on the other.`,
    '',
    ...names.map((name) => `- **${name}**: ${legend[name]}`),
    '',
    `| measure | ${names.join(' | ')} | gatehouse / nginx |`,
    `|---|${'---:|'.repeat(names.length + 1)}`,
    ...rows,
    '',
  ].join('\n')
}

/** Gatehouse's figure divided by nginx's, for each measure that has both. */
export function toRatios(figures: Figures): Record<string, number> {
  const ratios: Record<string, number> = {}
  for (const [measure, { gatehouse, nginx }] of Object.entries(figures)) {
    if (gatehouse !== undefined && nginx !== undefined && nginx !== 0) ratios[measure] = gatehouse / nginx
  }
  return ratios
}

function format(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}
