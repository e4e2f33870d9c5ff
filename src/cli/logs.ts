/**
 * `gatehouse logs`: the calls in the log, and new calls as they arrive. Shows usage, never prompts
 * or answers.
 */
import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import type { FiltersOf } from '../contract/api-call.ts'
import { ERROR_KINDS } from '../core/errors.ts'
import { CALL_OUTCOMES, STATUS_CLASSES } from '../core/usage.ts'
import { CliError } from './cli-error.ts'
import { type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { type Columns, formatTime, printLine, toJsonText, toUsdCell } from './output.ts'
import {
  asJson,
  type CallerFlags,
  example,
  parseLimit,
  parseWhole,
  pickCallers,
  printListing,
  withCallerOptions,
} from './program-parts.ts'
import { terminal } from './terminal.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

type Filters = FiltersOf<'GET /v1/logs'>

type LogFlags = Omit<Filters, 'refused' | keyof CallerFlags> &
  CallerFlags & {
    readonly follow?: true
    readonly limit: number
    readonly refused?: string | true
  }

const POLL_MS = 1_000
/**
 * A call is logged at its end but sorted by its start, so new rows may appear this far in the past.
 */
const FOLLOWED_MS = 10 * 60_000
const MAX_FOLLOWED = 2_000

export function bindLogs(program: Command, context: CliContext): void {
  withCallerOptions(program.command('logs'))
    .description('the calls in the log, newest first')
    .option('-f, --follow', 'continue with new calls as they end, oldest first')
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .option(
      '--from <time>',
      'calls that began at this time or later (2026-11-01 or 2026-11-01T09:00:00Z)',
    )
    .option('--to <time>', 'calls that began before this time')
    .option('--gate <id>', 'calls through this gate')
    .option('--key <id>', `calls with this key: ${A_KEY}`)
    .option('--target <provider/model>', 'calls whose last target was this one')
    .option('--status <code>', 'calls with this HTTP status', (text) =>
      parseWhole(text, { min: 100, max: 599 }),
    )
    .addOption(
      new Option('--status-class <class>', 'calls with a status of this class').choices(
        STATUS_CLASSES,
      ),
    )
    .addOption(new Option('--outcome <how>', 'calls with this outcome').choices(CALL_OUTCOMES))
    .addOption(
      new Option('--error-kind <kind>', 'calls that failed for this reason').choices(ERROR_KINDS),
    )
    .option('--refused [code]', 'calls that the gateway itself refused, with this code or any')
    .option('--stream', 'only streams')
    .option('--no-stream', 'only whole answers')
    .addHelpText(
      'after',
      example(
        'gatehouse logs --outcome failed',
        'gatehouse logs --refused price_unknown',
        'gatehouse logs --follow --gate assistant',
      ),
    )
    .action(async (flags: LogFlags, command: Command) => {
      if (flags.follow === true && !context.environment.GATEHOUSE_URL) {
        throw new CliError(
          'usage',
          '--follow needs a running gateway: set GATEHOUSE_URL and GATEHOUSE_API_KEY.',
        )
      }
      await withClient(context, async (client) => {
        const filters = toFilters({ ...flags, key: await wholeKeyId(client, flags.key) })
        if (flags.follow === true)
          return await follow(client, { filters, flags, isJson: asJson(command) })
        const listing = await client.listAll('GET /v1/logs', flags.limit, filters)
        printListing(listing, command, COLUMNS)
      })
    })
}

function toFilters(flags: LogFlags): Filters {
  const { from, to, gate, key, target, status, statusClass, outcome, errorKind, stream } = flags
  const refused = flags.refused === true ? 'any' : flags.refused
  return {
    ...pickCallers(flags),
    ...{ from, to, gate, key, target, status, statusClass, outcome, errorKind, refused, stream },
  }
}

interface Followed {
  readonly filters: Filters
  readonly flags: LogFlags
  readonly isJson: boolean
}

/** Runs until the reader of the output or the user ends the command. */
async function follow(client: Client, { filters, flags, isJson }: Followed): Promise<void> {
  let isOver = false
  terminal().onReaderGone(() => {
    isOver = true
  })
  const seen = new Set<string>()
  let isFirst = true
  let { from } = filters
  while (!isOver) {
    const asked = { ...filters, from }
    const { rows, answeredAtMs } = await client.listAll('GET /v1/logs', MAX_FOLLOWED, asked)
    // Uses the gateway's clock, which dates the rows: this machine's clock may be hours ahead.
    from = filters.from ?? new Date(answeredAtMs - FOLLOWED_MS).toISOString()
    const fresh = rows.filter((row) => !seen.has(row.id))
    // Later requests begin at the window, so no earlier call can appear again.
    seen.clear()
    for (const row of rows) seen.add(row.id)
    const shown = isFirst ? fresh.slice(0, flags.limit) : fresh
    isFirst = false
    for (const row of shown.toReversed()) printLine(isJson ? toJsonText(row) : toLine(row))
    await Bun.sleep(POLL_MS)
  }
}

/** The id is last, because a narrow terminal cuts the last column. */
const COLUMNS: Columns<Schemas['Log']> = {
  STARTED: (log) => formatTime(log.startedAt),
  GATE: toGate,
  TARGET: (log) => log.target ?? '-',
  TRIES: (log) => String(log.attempts),
  STATUS: toStatus,
  TIME: (log) => `${log.durationMs} ms`,
  TOKENS: ({ usage }) => (usage === null ? '-' : `${usage.inputTokens}+${usage.outputTokens}`),
  COST: ({ cost }) =>
    cost.usd === null ? '-' : `${cost.status === 'exact' ? '' : '~'}${toUsdCell(cost.usd)}`,
  ID: (log) => log.id,
}

/** A row may represent many refused calls. */
function toStatus({ status, outcome, errorKind, refusalCode, refusals }: Schemas['Log']): string {
  if (outcome === 'succeeded') return String(status)
  return `${status} ${refusalCode ?? errorKind ?? outcome}${toTimes(refusals)}`
}

/** A server of an earlier version does not know the sent gate id. */
function toGate({ gateId, sentGateId }: Schemas['Log']): string {
  return typeof sentGateId === 'string' ? `${sentGateId} (no gate)` : gateId
}

function toTimes(refusals: number | null): string {
  return refusals === null || refusals === 1 ? '' : ` ×${refusals}`
}

function toLine(log: Schemas['Log']): string {
  return Object.values(COLUMNS)
    .map((cell) => cell(log))
    .join('  ')
}
