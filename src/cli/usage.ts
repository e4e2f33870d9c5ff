import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import type { AnswerOf, QueryOf } from '../contract/api-call.ts'
import { toStepsCsv, toUsageCsv } from '../contract/csv.ts'
import { GROUP_ORDERS, type GroupOrder, USAGE_GROUPS } from '../core/usage.ts'
import { CliError } from './cli-error.ts'
import { assertGoesOn, type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import {
  type Columns,
  formatTable,
  printCsv,
  printJson,
  printLine,
  printNote,
  toUsdCell,
} from './output.ts'
import {
  asJson,
  type CallerFlags,
  example,
  parseLimit,
  parseWhole,
  pickCallers,
  withCallerOptions,
} from './program-parts.ts'
import { bindUsageExport } from './usage-export.ts'
import { bindUsageSessions } from './usage-sessions.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

interface UsageFlags extends CallerFlags {
  readonly by: Interval | (typeof USAGE_GROUPS)[number]
  readonly thenBy?: (typeof USAGE_GROUPS)[number]
  readonly days: number
  readonly from?: string
  readonly to?: string
  readonly gate?: string
  readonly key?: string | undefined
  readonly target?: string
  readonly order?: GroupOrder | 'last'
  readonly search?: string
  readonly limit: number
  readonly csv?: true
}

const INTERVALS = ['day', 'month'] as const
type Interval = (typeof INTERVALS)[number]
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export function bindUsage(program: Command, context: CliContext): void {
  const usage = withCallerOptions(program.command('usage'))
  bindUsageSessions(usage, context)
  bindUsageExport(usage, context)
  usage
    .description('calls, tokens, costs and latencies, summed up')
    .addOption(
      new Option('--by <what>', 'grouping of the lines')
        .choices([...INTERVALS, ...USAGE_GROUPS])
        .default('day'),
    )
    .addOption(
      new Option(
        '--then-by <what>',
        'second dimension: a line for each pair, such as --by user --then-by model',
      ).choices(USAGE_GROUPS),
    )
    .option(
      '--days <n>',
      'number of days back from now',
      (text) => parseWhole(text, { min: 1, max: 3_650 }),
      30,
    )
    .option(
      '--from <time>',
      'calls from this time on (2026-11-01 or 2026-11-01T09:00:00Z), instead of --days',
    )
    .option('--to <time>', 'calls before this time')
    .option('--gate <id>', 'calls through this gate only')
    .option('--key <id>', `calls with this key only: ${A_KEY}`)
    .option('--target <provider/model>', 'calls of this target only')
    .addOption(
      new Option(
        '--order <measure>',
        'measure by which groups are ranked, the greatest first; calls when absent (last: sessions)',
      ).choices([...GROUP_ORDERS, 'last']),
    )
    .option(
      '--search <text>',
      'with --by user or tag: groups whose name contains each of these words only, such as repo:',
    )
    .option('--limit <n>', 'at most this many groups', parseLimit, 50)
    .option('--csv', 'as CSV, with the ids of groups beside their names')
    .addHelpText(
      'after',
      example(
        'gatehouse usage',
        'gatehouse usage --by target --days 7 --order cost',
        'gatehouse usage --by key --order cost --limit 100000 --csv > chargeback.csv',
        'gatehouse usage --by user --order cost --limit 100000 --csv > people.csv',
        'gatehouse usage --by tag --search repo: --order cost',
        'gatehouse usage --by model --tag repo:gatehouse',
        'gatehouse usage --by user --then-by model --order cost',
      ),
    )
    .action(async (flags: UsageFlags, command: Command) => {
      if (flags.search !== undefined && flags.by !== 'user' && flags.by !== 'tag')
        throw new CliError('usage', '--search needs --by user or --by tag.')
      if (flags.thenBy !== undefined && isOfTime(flags.by))
        throw new CliError('usage', '--then-by needs --by with a kind of group, such as --by user.')
      const analytics = await withClient(context, async (client) => {
        const key = await wholeKeyId(client, flags.key)
        return await readUsage(client, { ...flags, key })
      })
      if (asJson(command)) return printJson(analytics)
      const sums = analytics.data
      const { by, thenBy } = flags
      if (flags.csv === true) {
        if (isOfTime(by)) return printCsv(toStepsCsv(sums, by))
        return printCsv(
          toUsageCsv(sums, { by, nameOf }, thenBy && { by: thenBy, nameOf: nameOfSecond }),
        )
      }
      // An id that is cut cannot be copied.
      printLine(formatTable(columnsOf(flags, analytics), sums, Number.POSITIVE_INFINITY))
      noteUnknown(sums)
    })
}

function isOfTime(by: UsageFlags['by']): by is Interval {
  return by === 'day' || by === 'month'
}

type Analytics = AnswerOf<'GET /v1/analytics'>

const GROUPS_PER_PAGE = 1_000

/** Groups are read in pages. The sum of all others comes from the last page. */
export async function readUsage(client: Client, flags: UsageFlags): Promise<Analytics> {
  const query = toQuery(flags)
  const ask = (paging: object) =>
    client.call('GET /v1/analytics', 'data', { query: { ...query, ...paging } })
  if (query.group_by === undefined) return await ask({})
  const { order = 'calls' } = flags
  if (order === 'last') throw new CliError('usage', '--order last is for gatehouse usage sessions.')
  const sums: Sum[] = []
  let cursor: string | undefined
  for (;;) {
    const limit = Math.min(GROUPS_PER_PAGE, flags.limit - sums.length)
    const page = await ask({ order, limit, cursor })
    const next = page.nextCursor ?? null
    assertGoesOn(cursor ?? null, next)
    const isLast = next === null || sums.length + limit >= flags.limit
    for (const sum of page.data) if (isLast || !sum.isRest) sums.push(sum)
    if (isLast) return { ...page, data: sums }
    cursor = next
  }
}

/** Failed and refused calls have their own counts and are not included. */
function noteUnknown(sums: readonly Sum[]): void {
  const unknown = sums.reduce((total, { cost }) => total + cost.unknownCalls, 0)
  // A gateway of an earlier version does not send this count.
  const unpriced = sums.reduce((total, { cost }) => total + (cost.unpricedCalls ?? 0), 0)
  if (unpriced > 0) printNote(`${unpriced} calls have no price, and are not in the cost.`)
  const unreported = unknown - unpriced
  if (unreported > 0)
    printNote(
      `The provider reported no tokens for ${unreported} calls. The cost does not include these calls.`,
    )
}

function toQuery({
  by,
  days,
  from,
  to,
  gate,
  key,
  target,
  thenBy,
  search,
  ...callers
}: UsageFlags): QueryOf<'GET /v1/analytics'> {
  const end = to === undefined ? Date.now() : Date.parse(to)
  // Sends invalid times unchanged, so that the gateway explains what is wrong.
  // The gateway reads whole hours; the hour in which the oldest calls are being deleted is refused.
  const endOfHour = Math.ceil(end / HOUR_MS) * HOUR_MS
  const begin = Number.isFinite(end) ? new Date(endOfHour - days * DAY_MS).toISOString() : ''
  const picked = { from: from ?? begin, to, gate, key, target, ...pickCallers(callers) }
  return isOfTime(by)
    ? { ...picked, interval: by }
    : { ...picked, interval: 'all', group_by: by, then_by: thenBy, search }
}

type Sum = Schemas['UsageSum']

const WITH_ID: ReadonlySet<UsageFlags['by']> = new Set(['key', 'user', 'tag'])

const LATENCIES: Columns<Sum> = {
  P50: ({ durationMs }) => toMs(durationMs.p50),
  P95: ({ durationMs }) => toMs(durationMs.p95),
  'FIRST BYTE P50': ({ firstByteMs }) => toMs(firstByteMs.p50),
}

/** Latencies and refused calls have columns only where the gateway knows any. */
function columnsOf({ by, thenBy }: UsageFlags, { data, groupBy }: Analytics): Columns<Sum> {
  const hasRefused = data.some((sum) => refusedIn(sum) > 0)
  const hasLatencies = data.some(({ durationMs }) => durationMs.p50 !== null)
  return {
    '': groupBy === null ? ({ start }) => start.slice(0, 10) : nameOf,
    ...(thenBy !== undefined && { 'THEN BY': nameOfSecond }),
    CALLS: ({ calls }) => String(calls),
    ERRORS: (sum) => String(sum.errors - refusedIn(sum)),
    ...(hasRefused && { REFUSED: (sum: Sum) => String(refusedIn(sum)) }),
    IN: ({ tokens }) => String(tokens.input),
    OUT: ({ tokens }) => String(tokens.output),
    COST: ({ cost }) => `${cost.estimatedCalls > 0 ? '~' : ''}${toUsdCell(cost.usd)}`,
    ...(hasLatencies && LATENCIES),
    ...(thenBy === undefined && WITH_ID.has(by) && { ID: ({ group }: Sum) => group ?? '-' }),
  }
}

/** A part of `errors`, which the gateway refused itself. A gateway of an earlier version does not send it. */
function refusedIn({ refused = 0 }: Partial<Sum>): number {
  return refused
}

function nameOfSecond({ thenName, thenGroup, isRest }: Sum): string {
  return thenName ?? thenGroup ?? (isRest ? '' : '(none)')
}

/** A server of an earlier version sends no names. */
function nameOf({ name, group, isRest }: Sum): string {
  return name ?? group ?? (isRest ? '(the rest)' : '(none)')
}

function toMs(value: number | null): string {
  return value === null ? '-' : `${value} ms`
}
