/** `gatehouse models unknown`: models that were called without a known price. */
import type { Command } from 'commander'
import type { RowOf } from '../../contract/api-call.ts'
import { withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { type Columns, formatTime, printNote, toUsdCell } from '../output.ts'
import { asJson, example, printListing } from '../program-parts.ts'

interface UnknownFlags {
  readonly from?: string
  readonly to?: string
}

interface UnknownModel {
  readonly model: string
  calls: number
  tokens: number
  estimatedUsd: number
  /** The first of the calls. */
  since: string
}

const MAX_CALLS = 100_000

export function bindUnknown(models: Command, context: CliContext): void {
  models
    .command('unknown')
    .description('list the models that were called without a known price, the most tokens first')
    .option('--from <time>', 'of calls that began then or later')
    .option('--to <time>', 'of calls that began before')
    .addHelpText('after', example('gatehouse models unknown --from 2026-11-01'))
    .action(async (flags: UnknownFlags, command: Command) => {
      const { rows, hasMore } = await withClient(context, (client) =>
        client.listAll('GET /v1/logs', MAX_CALLS, { ...flags, unpriced: true }),
      )
      printListing({ rows: sumByModel(rows), hasMore: false }, command, COLUMNS)
      if (hasMore) printNote(`Only the newest ${MAX_CALLS} calls were read. See others with --to.`)
      else if (rows.length === 0 && !asJson(command))
        printNote('Every model that was called has a known price.')
    })
}

function sumByModel(calls: readonly RowOf<'GET /v1/logs'>[]): readonly UnknownModel[] {
  const sums = new Map<string, UnknownModel>()
  for (const { target, startedAt, usage, cost } of calls) {
    if (target === null) continue
    const sum = sums.get(target) ?? {
      ...{ model: target, calls: 0, tokens: 0, estimatedUsd: 0 },
      since: startedAt,
    }
    sum.calls += 1
    sum.tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)
    sum.estimatedUsd += cost.usd ?? 0
    if (startedAt < sum.since) sum.since = startedAt
    sums.set(target, sum)
  }
  return [...sums.values()].toSorted((one, other) => other.tokens - one.tokens)
}

const COLUMNS: Columns<UnknownModel> = {
  MODEL: ({ model }) => model,
  CALLS: ({ calls }) => String(calls),
  TOKENS: ({ tokens }) => String(tokens),
  ESTIMATED: ({ estimatedUsd }) => (estimatedUsd === 0 ? '-' : toUsdCell(estimatedUsd)),
  SINCE: ({ since }) => formatTime(since),
}
