/** The colours of series, as the style sheet names them: both palettes have them. */

const SERIES = [
  'var(--chart-1)',
  'var(--chart-2)',
  'var(--chart-3)',
  'var(--chart-4)',
  'var(--chart-5)',
] as const

/** What is not one of the series: the rest, the period before. */
export const FAINT = 'var(--chart-6)'

/** So many series can be told apart. */
export const MAX_SERIES = SERIES.length

export function seriesColor(index: number): string {
  return SERIES[index] ?? FAINT
}
