/** `gatehouse audit`: who changed what. */
import type { Command } from 'commander'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, type Row } from './output.ts'
import { example, parseLimit, printListing } from './program-parts.ts'

interface AuditFlags {
  readonly limit: number
  readonly actor?: string
  readonly action?: string
  readonly resourceType?: string
  readonly resourceId?: string
  readonly from?: string
  readonly to?: string
}

export function bindAudit(program: Command, context: CliContext): void {
  program
    .command('audit')
    .description('who changed what, newest first; --json shows before and after too')
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .option('--actor <id>', 'by this key or user; local: by the operator, on this machine')
    .option('--action <name>', 'of this kind, such as gate.update')
    .option('--resource-type <type>', 'of such things: gate, key, provider-key, …')
    .option('--resource-id <id>', 'of this thing')
    .option('--from <time>', 'made then or later (2026-11-01 or 2026-11-01T09:00:00Z)')
    .option('--to <time>', 'made before')
    .addHelpText(
      'after',
      example(
        'gatehouse audit --resource-type gate',
        'gatehouse audit --action key.delete --from 2026-11-01 --json',
      ),
    )
    .action(async (flags: AuditFlags, command: Command) => {
      const { limit, actor, action, resourceType, resourceId, from, to } = flags
      const given = { actor, action, resourceType, resourceId, from, to }
      const filters = Object.fromEntries(
        Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      )
      const listing = await withClient(context, (client) => client.list('/v1/audit-log', limit, filters))
      printListing(listing, command, { columns: ['AT', 'ACTOR', 'ACTION', 'WHAT', 'CHANGED'], toRow })
    })
}

function toRow(entry: JsonObject): Row {
  const actor = entry.actor as JsonObject
  return {
    AT: formatTime(entry.at),
    ACTOR: `${actor.type} ${actor.name ?? actor.id}`,
    ACTION: String(entry.action),
    WHAT: String(entry.resourceId),
    CHANGED: describeChange(entry.before, entry.after),
  }
}

/** The names of the members that are not what they were. */
function describeChange(before: unknown, after: unknown): string {
  if (!isObject(before) || !isObject(after)) return ''
  return Object.keys({ ...before, ...after })
    .filter((name) => name !== 'updatedAt' && JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .join(', ')
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null
}
