/** A chart's figures as a table: for those who cannot see it, and those who want the numbers. */
import { formatStep } from '../../format/times.ts'
import { Table, Th } from '../table.tsx'
import type { TimeChartData } from './chart-series.ts'

export function ChartTable({
  label,
  data,
}: {
  readonly label: string
  readonly data: TimeChartData
}) {
  return (
    <div className="max-h-80 overflow-y-auto print:max-h-none">
      <Table
        label={`${label} as a table`}
        head={
          <>
            <Th>Time</Th>
            {data.series.map(({ key, label: name }) => (
              <Th key={key} isNumber>
                {name}
              </Th>
            ))}
          </>
        }
      >
        {data.rows.map(({ startMs, values }) => (
          <tr key={startMs}>
            <td className="whitespace-nowrap text-ink-soft">{formatStep(startMs, data.step)}</td>
            {data.series.map(({ key }) => (
              <td key={key} className="text-right tabular-nums">
                {data.format(values[key])}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </div>
  )
}
