/** `gatehouse usage`: what was used and what it cost, summed up by day, gate, target, key, status or credential. */
import { type Command, Option } from 'commander'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTable, printJson, printLine, printNote, type Row } from './output.ts'
import { asJson, example, parseWhole } from './program-parts.ts'

interface UsageFlags {
  readonly by: string
  readonly days: number
  readonly from?: string
  readonly to?: string
  readonly gate?: string
  readonly key?: string
  readonly target?: string
}

const INTERVALS = ['day', 'month']
const DAY_MS = 86_400_000

export function bindUsage(program: Command, context: CliContext): void {
  program
    .command('usage')
    .description('calls, tokens, costs and latencies, summed up')
    .addOption(
      new Option('--by <what>', 'what a line stands for')
        .choices([...INTERVALS, 'gate', 'target', 'key', 'status', 'credential'])
        .default('day'),
    )
    .option('--days <n>', 'how far back', (text) => parseWhole(text, { min: 1, max: 3_650 }), 30)
    .option('--from <time>', 'from then on (2026-11-01 or 2026-11-01T09:00:00Z) instead of --days')
    .option('--to <time>', 'until then')
    .option('--gate <id>', 'of this gate only')
    .option('--key <id>', 'of this key only')
    .option('--target <provider/model>', 'of this target only')
    .addHelpText('after', example('gatehouse usage', 'gatehouse usage --by target --days 7'))
    .action(async (flags: UsageFlags, command: Command) => {
      const analytics = await withClient(context, (client) =>
        client.json(`/v1/analytics?${toQuery(flags)}`, 'data'),
      )
      if (asJson(command)) return printJson(analytics)
      const sums = analytics.data as readonly JsonObject[]
      printLine(formatTable(COLUMNS, sums.map(INTERVALS.includes(flags.by) ? toTimeRow : toGroupRow)))
      const unknown = sums.reduce((total, sum) => total + Number(at(sum, 'cost', 'unknownCalls')), 0)
      if (unknown > 0) printNote(`The cost of ${unknown} calls is unknown and not in the sums.`)
    })
}

function toQuery({ by, days, from, to, gate, key, target }: UsageFlags): URLSearchParams {
  const isOverTime = INTERVALS.includes(by)
  const end = to === undefined ? Date.now() : Date.parse(to)
  // What is no time is sent as it is: the gateway says what is wrong with it.
  const begin = Number.isFinite(end) ? new Date(end - days * DAY_MS).toISOString() : ''
  return new URLSearchParams({
    interval: isOverTime ? by : 'all',
    ...(isOverTime ? {} : { group_by: by }),
    from: from ?? begin,
    ...(to === undefined ? {} : { to }),
    ...(gate === undefined ? {} : { gate }),
    ...(key === undefined ? {} : { key }),
    ...(target === undefined ? {} : { target }),
  })
}

const COLUMNS = ['', 'CALLS', 'ERRORS', 'IN', 'OUT', 'COST', 'P50', 'P95', 'FIRST BYTE P50']

function toTimeRow(sum: JsonObject): Row {
  return { ...toFigures(sum), '': String(sum.start).slice(0, 10) }
}

function toGroupRow(sum: JsonObject): Row {
  const rest = sum.isRest === true ? '(the rest)' : '(none)'
  return { ...toFigures(sum), '': typeof sum.group === 'string' ? sum.group : rest }
}

function toFigures(sum: JsonObject): Row {
  const isRough = Number(at(sum, 'cost', 'estimatedCalls')) > 0
  return {
    CALLS: String(sum.calls),
    ERRORS: String(sum.errors),
    IN: String(at(sum, 'tokens', 'input')),
    OUT: String(at(sum, 'tokens', 'output')),
    COST: `${isRough ? '~' : ''}$${Number(at(sum, 'cost', 'usd')).toFixed(4)}`,
    P50: toMs(at(sum, 'durationMs', 'p50')),
    P95: toMs(at(sum, 'durationMs', 'p95')),
    'FIRST BYTE P50': toMs(at(sum, 'firstByteMs', 'p50')),
  }
}

function toMs(value: unknown): string {
  return typeof value === 'number' ? `${value} ms` : '-'
}

function at(value: JsonObject, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, name) => (found as JsonObject | undefined)?.[name], value)
}
