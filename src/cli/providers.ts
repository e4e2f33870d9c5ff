import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { type Columns, formatTable, printJson, printLine } from './output.ts'
import { asJson, example, printListing } from './program-parts.ts'

interface ConformanceFlags {
  readonly endpoint?: string
  readonly provider?: string
}

type Conformance = Schemas['Conformance']

export function bindProviders(program: Command, context: CliContext): void {
  const providers = program
    .command('providers')
    .description('providers: the vendors that gates can use')

  providers
    .command('list')
    .description('list the providers, and whose key calls to them use')
    .addHelpText('after', example('gatehouse providers list'))
    .action(async (_flags, command: Command) => {
      const { data } = await withClient(context, (client) =>
        client.call('GET /v1/providers', 'data'),
      )
      printListing({ rows: data, hasMore: false }, command, {
        ID: (row) => row.id,
        KEY: describeCredential,
        NAME: (row) => row.name,
      })
    })

  providers
    .command('conformance')
    .description(
      'show what is lost or refused between an endpoint and a provider; the rest arrives',
    )
    .option('--endpoint <path>', 'only this endpoint, such as /v1/messages')
    .option('--provider <id>', 'only this provider')
    .addHelpText(
      'after',
      example(
        'gatehouse providers conformance --endpoint /v1/chat/completions --provider anthropic',
      ),
    )
    .action(async (flags: ConformanceFlags, command: Command) => {
      const { data } = await withClient(context, (client) =>
        client.call('GET /v1/conformance', 'data'),
      )
      const rows = data.flatMap((row) => pick(row, flags))
      if (rows.length === 0) throw nothingKnown(data, flags)
      if (asJson(command)) return printJson(rows)
      printLine(rows.map(describe).join('\n\n'))
    })
}

/** A server of an earlier version reports only its own credential. */
function describeCredential({ credential, configured }: Partial<Schemas['Provider']>): string {
  if (credential === 'own') return "the account's"
  return credential === 'platform' || (credential === undefined && configured === true)
    ? "the gateway's"
    : 'none'
}

function nothingKnown(data: readonly Conformance[], flags: ConformanceFlags): CliError {
  const { endpoint, provider } = flags
  const endpoints = [...new Set(data.map((row) => row.endpoint))]
  if (endpoint !== undefined && !endpoints.includes(endpoint))
    return new CliError(
      'notFound',
      `The endpoint ${endpoint} does not exist. The endpoints are ${endpoints.join(', ')}.`,
    )
  return new CliError(
    'notFound',
    `There is no provider '${provider ?? ''}'. List the providers with: gatehouse providers list.`,
  )
}

function pick(row: Conformance, { endpoint, provider }: ConformanceFlags): Conformance[] {
  if (endpoint !== undefined && row.endpoint !== endpoint) return []
  const targets = row.targets.filter(
    (target) => provider === undefined || target.provider === provider,
  )
  return targets.length === 0 ? [] : [{ ...row, targets }]
}

const LOST_COLUMNS: Columns<[feature: string, Conformance['results'][string]]> = {
  FEATURE: ([feature]) => feature,
  VERDICT: ([, { verdict }]) => verdict,
  WHAT: ([, { fields, message }]) => fields?.join(', ') ?? String(message),
}

function describe(row: Conformance): string {
  const targets = row.targets.map(({ provider, models }) =>
    models.length > 0 ? `${provider} (${models.join(', ')})` : provider,
  )
  const results = Object.entries(row.results)
  const lost = results.filter(([, { verdict }]) => verdict === 'lossy' || verdict === 'refused')
  const heading = `${row.endpoint} → ${targets.join(', ')}`
  if (lost.length > 0) return `${heading}\n${formatTable(LOST_COLUMNS, lost)}`
  if (row.dialect === null) return `${heading}\nnot reached`
  const isRelayed = results.some(([, { verdict }]) => verdict === 'relayed')
  return `${heading}\n${isRelayed ? 'relayed byte for byte' : 'all of it arrives'}`
}
