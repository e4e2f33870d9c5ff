import { Link } from '@tanstack/react-router'
import { LOGS } from '../../format/calls-behind.ts'
import { formatStep } from '../../format/times.ts'
import { Table, Th } from '../table.tsx'
import { useTimeZone } from '../use-time-zone.ts'
import { hasCalls, type TimeChartData } from './chart-series.ts'
import type { AddressOf } from './step-links.ts'

export function ChartTable({
  label,
  data,
  addressOf,
}: {
  readonly label: string
  readonly data: TimeChartData
  readonly addressOf: AddressOf | undefined
}) {
  const zone = useTimeZone()
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
            <td className="whitespace-nowrap text-ink-soft">
              {addressOf === undefined || !hasCalls(values) ? (
                formatStep(startMs, data.step, zone)
              ) : (
                <Link
                  to={LOGS}
                  search={addressOf(startMs, undefined)}
                  preload={false}
                  className="rounded-sm hover:text-ink hover:underline"
                >
                  {formatStep(startMs, data.step, zone)}
                  <span className="sr-only">, its calls in the logs</span>
                </Link>
              )}
              {startMs === data.runningFromMs && ', so far'}
            </td>
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
