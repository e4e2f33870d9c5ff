/** `gatehouse providers`: who can stand behind a gate, and what each endpoint loses on the way there. */
import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTable, printJson, printLine, type Row, toPrintable } from './output.ts'
import { asJson, example, printListing } from './program-parts.ts'

interface ConformanceFlags {
  readonly endpoint?: string
  readonly provider?: string
}

export function bindProviders(program: Command, context: CliContext): void {
  const providers = program.command('providers').description('providers: who can stand behind a gate')

  providers
    .command('list')
    .description('list the providers, and whether there is a key for them')
    .addHelpText('after', example('gatehouse providers list'))
    .action(async (_flags, command: Command) => {
      const { data } = await withClient(context, (client) => client.call('GET /v1/providers', 'data'))
      printListing({ rows: recordsOf(data), hasMore: false }, command, {
        columns: ['ID', 'KEY', 'NAME'],
        toRow: (row) => ({
          ID: String(row.id),
          KEY: row.configured === true ? 'yes' : 'no',
          NAME: String(row.name),
        }),
      })
    })

  providers
    .command('conformance')
    .description('show what is lost or refused between an endpoint and a provider; the rest arrives')
    .option('--endpoint <path>', 'only this endpoint, such as /v1/messages')
    .option('--provider <id>', 'only this provider')
    .addHelpText(
      'after',
      example('gatehouse providers conformance --endpoint /v1/chat/completions --provider anthropic'),
    )
    .action(async (flags: ConformanceFlags, command: Command) => {
      const { data } = await withClient(context, (client) => client.call('GET /v1/conformance', 'data'))
      const rows = recordsOf(data).flatMap((row) => pick(row, flags))
      if (rows.length === 0)
        throw new CliError('notFound', 'Nothing is known of that: see gatehouse providers list.')
      if (asJson(command)) return printJson(rows)
      printLine(rows.map(describe).join('\n\n'))
    })
}

/** The row without the targets that were not asked for; nothing when none is left. */
function pick(row: JsonObject, { endpoint, provider }: ConformanceFlags): JsonObject[] {
  if (endpoint !== undefined && row.endpoint !== endpoint) return []
  const targets = recordsOf(row.targets).filter(
    (target) => provider === undefined || target.provider === provider,
  )
  return targets.length === 0 ? [] : [{ ...row, targets }]
}

/** One line of who it is, and a table of what does not arrive. */
function describe(row: JsonObject): string {
  const targets = recordsOf(row.targets).map(({ provider, models }) =>
    Array.isArray(models) && models.length > 0 ? `${provider} (${models.join(', ')})` : String(provider),
  )
  const results = Object.entries(row.results as Record<string, JsonObject>)
  const lost = results.flatMap(([feature, { verdict, fields, message }]): Row[] => {
    if (verdict !== 'lossy' && verdict !== 'refused') return []
    const what = Array.isArray(fields) ? fields.join(', ') : String(message)
    return [{ FEATURE: feature, VERDICT: String(verdict), WHAT: what }]
  })
  const heading = toPrintable(`${row.endpoint} → ${targets.join(', ')}`)
  if (lost.length > 0) return `${heading}\n${formatTable(['FEATURE', 'VERDICT', 'WHAT'], lost)}`
  if (row.dialect === null) return `${heading}\nnot reached`
  const isRelayed = results.some(([, { verdict }]) => verdict === 'relayed')
  return `${heading}\n${isRelayed ? 'relayed byte for byte' : 'all of it arrives'}`
}

function recordsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : []
}
