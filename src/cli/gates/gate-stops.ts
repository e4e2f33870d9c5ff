/** `gates stops` and `gates lift`: the sessions and users that the fuse of a gate stopped. */
import { Argument, type Command } from 'commander'
import { FUSED_KINDS, type FusedKind } from '../../core/fuse.ts'
import { withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { formatTime, printJson, printLine } from '../output.ts'
import { asJson, example, printListing } from '../program-parts.ts'
import { idOf } from '../resource-verbs.ts'

export function addGateStops(gates: Command, context: CliContext): void {
  gates
    .command('stops')
    .argument('<gate>', idOf('gate'))
    .description('list the sessions and users that the fuse of a gate stopped')
    .addHelpText('after', example('gatehouse gates stops assistant'))
    .action(async (gate: string, _flags, command: Command) => {
      const { data } = await withClient(context, (client) =>
        client.call('GET /v1/gates/{id}/stops', 'data', { path: { id: gate } }),
      )
      printListing({ rows: data, hasMore: false }, command, {
        KIND: ({ kind }) => kind,
        HEAD: ({ id }) => id,
        NAME: ({ name }) => name ?? '-',
        SINCE: ({ createdAt }) => formatTime(createdAt),
        REASON: ({ reason }) => reason ?? '-',
      })
    })

  gates
    .command('lift')
    .argument('<gate>', idOf('gate'))
    .addArgument(new Argument('<kind>', 'what was stopped').choices(FUSED_KINDS))
    .argument('<head>', 'the session or user, as gates stops shows it')
    .description('lift the stop of a session or a user; its next call is served')
    .addHelpText('after', example('gatehouse gates lift assistant user user_…'))
    .action(async (gate: string, kind: FusedKind, head: string, _flags, command: Command) => {
      await withClient(context, (client) =>
        client.remove('DELETE /v1/gates/{id}/stops/{kind}/{head}', {
          path: { id: gate, kind, head },
        }),
      )
      if (asJson(command)) printJson({ gate, kind, id: head, stopped: false })
      else printLine(`The ${kind} ${head} is not stopped on ${gate}.`)
    })
}
