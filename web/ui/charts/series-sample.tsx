import type { ChartSeries } from './chart-series.ts'
import { LineSample, PaintSample } from './paint-pattern.tsx'

export function SeriesSample({
  series: { look, color, pattern = 'solid', dashes },
}: {
  readonly series: ChartSeries
}) {
  if (look !== 'stack') return <LineSample color={color} dashes={dashes} />
  return <PaintSample paint={{ color, pattern }} className="size-3.5" />
}
