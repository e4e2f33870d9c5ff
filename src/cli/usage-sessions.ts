/** `gatehouse usage sessions`: the sessions of coding agents and applications, with their sums. */
import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { type GroupOrder, SESSION_ORDERS } from '../core/usage.ts'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { type Columns, formatTime, toUsdCell } from './output.ts'
import { example, parseLimit, printListing } from './program-parts.ts'
import { A_KEY, wholeKeyId } from './whole-key-id.ts'

interface SessionFlags {
  readonly from?: string
  readonly to?: string
  readonly user?: string
  readonly session?: string
  readonly key?: string
  readonly limit: number
}

export function bindUsageSessions(usage: Command, context: CliContext): void {
  usage
    .command('sessions')
    .description('sessions, the latest or the most expensive first')
    .option('--from <time>', 'sessions whose last call began at this time or later')
    .option('--to <time>', 'sessions whose last call began before this time')
    .option('--user <who>', "sessions of this user: a member's id, name or e-mail, or end:NAME")
    .option('--session <id>', 'this session, by the id that the client sent or its hash')
    .option('--key <id>', `sessions of this key: ${A_KEY}`)
    .addOption(
      new Option('--order <measure>', 'measure by which sessions are ranked, the greatest first')
        .choices(SESSION_ORDERS)
        .default('last'),
    )
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .addHelpText(
      'after',
      example('gatehouse usage sessions', 'gatehouse usage sessions --order cost --limit 10'),
    )
    .action(async (_: unknown, command: Command) => {
      // The command `usage` has options of the same names, and reads them first.
      const given: SessionFlags & { readonly order: GroupOrder | 'last' } =
        command.optsWithGlobals()
      const { limit, from, to, user, session } = given
      const order = SESSION_ORDERS.find((known) => known === given.order)
      if (order === undefined)
        throw new CliError('usage', `--order must be one of ${SESSION_ORDERS.join(', ')}.`)
      const listing = await withClient(context, async (client) => {
        const key = await wholeKeyId(client, given.key)
        const filters = { from, to, user, session, key, order }
        return await client.listAll('GET /v1/usage/sessions', limit, filters)
      })
      printListing(listing, command, columnsOf(listing.rows))
    })
}

type Session = Schemas['UsageSession']

/** Refused calls have a column where there are any. */
function columnsOf(sessions: readonly Session[]): Columns<Session> {
  const hasRefused = sessions.some(({ refused }) => refused > 0)
  return {
    'LAST CALL': ({ lastAt }) => formatTime(lastAt),
    USER: ({ user, userName }) => userName ?? user ?? '-',
    KEY: ({ keyId, keyName }) => keyName ?? keyId,
    CALLS: ({ calls }) => String(calls),
    // A gateway of an earlier version does not send `refused`.
    ERRORS: ({ errors, refused = 0 }) => String(errors - refused),
    ...(hasRefused && { REFUSED: ({ refused }: Session) => String(refused) }),
    IN: ({ tokens }) => String(tokens.input),
    CACHED: ({ tokens }) => String(tokens.cachedInput),
    OUT: ({ tokens }) => String(tokens.output),
    COST: ({ cost }) => `${cost.estimatedCalls > 0 ? '~' : ''}${toUsdCell(cost.usd)}`,
    ID: ({ id }) => id,
  }
}
