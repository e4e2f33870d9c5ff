/**
 * `gatehouse usage`: what was used and what it cost, summed up by day, gate, target, key, status or
 * credential.
 */
import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import type { QueryOf } from '../contract/api-call.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { type Columns, formatTable, printJson, printLine, printNote } from './output.ts'
import { asJson, example, parseWhole } from './program-parts.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

interface UsageFlags {
  readonly by: (typeof INTERVALS)[number] | (typeof GROUPS)[number]
  readonly days: number
  readonly from?: string
  readonly to?: string
  readonly gate?: string
  readonly key?: string | undefined
  readonly target?: string
}

const INTERVALS = ['day', 'month'] as const
const GROUPS = ['gate', 'target', 'key', 'status', 'credential'] as const
const DAY_MS = 86_400_000

export function bindUsage(program: Command, context: CliContext): void {
  program
    .command('usage')
    .description('calls, tokens, costs and latencies, summed up')
    .addOption(
      new Option('--by <what>', 'what a line stands for')
        .choices([...INTERVALS, ...GROUPS])
        .default('day'),
    )
    .option('--days <n>', 'how far back', (text) => parseWhole(text, { min: 1, max: 3_650 }), 30)
    .option('--from <time>', 'from then on (2026-11-01 or 2026-11-01T09:00:00Z) instead of --days')
    .option('--to <time>', 'until then')
    .option('--gate <id>', 'of this gate only')
    .option('--key <id>', `of this key only: ${A_KEY}`)
    .option('--target <provider/model>', 'of this target only')
    .addHelpText('after', example('gatehouse usage', 'gatehouse usage --by target --days 7'))
    .action(async (flags: UsageFlags, command: Command) => {
      const analytics = await withClient(context, async (client) => {
        const key = await wholeKeyId(client, flags.key)
        return await client.call('GET /v1/analytics', 'data', { query: toQuery({ ...flags, key }) })
      })
      if (asJson(command)) return printJson(analytics)
      const sums = analytics.data
      printLine(formatTable(analytics.groupBy === null ? BY_TIME : BY_GROUP, sums))
      const unknown = sums.reduce((total, { cost }) => total + cost.unknownCalls, 0)
      if (unknown > 0) printNote(`The cost of ${unknown} calls is unknown and not in the sums.`)
    })
}

function toQuery({
  by,
  days,
  from,
  to,
  gate,
  key,
  target,
}: UsageFlags): QueryOf<'GET /v1/analytics'> {
  const end = to === undefined ? Date.now() : Date.parse(to)
  // Sends text that is no time as it is: the gateway says what is wrong with it.
  const begin = Number.isFinite(end) ? new Date(end - days * DAY_MS).toISOString() : ''
  const picked = { from: from ?? begin, to, gate, key, target }
  return by === 'day' || by === 'month'
    ? { ...picked, interval: by }
    : { ...picked, interval: 'all', group_by: by }
}

type Sum = Schemas['UsageSum']

const FIGURES: Columns<Sum> = {
  CALLS: ({ calls }) => String(calls),
  ERRORS: ({ errors }) => String(errors),
  IN: ({ tokens }) => String(tokens.input),
  OUT: ({ tokens }) => String(tokens.output),
  COST: ({ cost }) => `${cost.estimatedCalls > 0 ? '~' : ''}$${cost.usd.toFixed(6)}`,
  P50: ({ durationMs }) => toMs(durationMs.p50),
  P95: ({ durationMs }) => toMs(durationMs.p95),
  'FIRST BYTE P50': ({ firstByteMs }) => toMs(firstByteMs.p50),
}

const BY_TIME: Columns<Sum> = { '': ({ start }) => start.slice(0, 10), ...FIGURES }

const BY_GROUP: Columns<Sum> = {
  '': ({ group, isRest }) => group ?? (isRest ? '(the rest)' : '(none)'),
  ...FIGURES,
}

function toMs(value: number | null): string {
  return value === null ? '-' : `${value} ms`
}
