/** Series on top of each other, as bars over time. Apart from lines: the first page has none, and bars are a twentieth of the library. */
import { Bar } from 'recharts'
import { TimeChart, type TimeChartProps } from './time-chart.tsx'

export function StackedChart(props: TimeChartProps) {
  return (
    <TimeChart
      {...props}
      draw={({ key, label, color }) => (
        <Bar
          key={key}
          name={label}
          dataKey={(row: TimeChartProps['data']['rows'][number]) => row.values[key] ?? null}
          isAnimationActive={false}
          stackId="all"
          fill={color}
          maxBarSize={48}
        />
      )}
    />
  )
}
