import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import type { FiltersOf } from '../contract/api-call.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { type Columns, formatTime } from './output.ts'
import { example, parseLimit, printListing } from './program-parts.ts'

/** Actions and types are sent as typed: the gateway decides which exist. */
type AuditFlags = FiltersOf<'GET /v1/audit-log'> & { readonly limit: number }

export function bindAudit(program: Command, context: CliContext): void {
  program
    .command('audit')
    .description('who changed what, newest first; --json shows before and after too')
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .option('--actor <id>', 'changes by this key or user; local: by the operator, on this machine')
    .option('--action <name>', 'changes of this kind, such as gate.update')
    .option(
      '--resource-type <type>',
      'changes of this type of resource: gate, key, provider-key, …',
    )
    .option('--resource-id <id>', 'changes of this resource')
    .option('--from <time>', 'changes at this time or later (2026-11-01 or 2026-11-01T09:00:00Z)')
    .option('--to <time>', 'changes before this time')
    .addHelpText(
      'after',
      example(
        'gatehouse audit --resource-type gate',
        'gatehouse audit --action key.delete --from 2026-11-01 --json',
      ),
    )
    .action(async (flags: AuditFlags, command: Command) => {
      const { limit, actor, action, resourceType, resourceId, from, to } = flags
      const listing = await withClient(context, (client) =>
        client.listAll('GET /v1/audit-log', limit, {
          actor,
          action,
          resourceType,
          resourceId,
          from,
          to,
        }),
      )
      printListing(listing, command, COLUMNS)
    })
}

type Entry = Schemas['AuditEntry']

const COLUMNS: Columns<Entry> = {
  AT: (entry) => formatTime(entry.at),
  ACTOR: ({ actor }) => `${actor.type} ${actor.name ?? actor.id}`,
  ACTION: (entry) => entry.action,
  WHAT: (entry) => entry.resourceId,
  CHANGED: (entry) => describeChange(entry.before, entry.after),
}

function describeChange(before: Entry['before'], after: Entry['after']): string {
  if (before === null || after === null) return ''
  return Object.keys({ ...before, ...after })
    .filter(
      (name) =>
        name !== 'updatedAt' && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    )
    .join(', ')
}
