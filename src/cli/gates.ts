/** `gatehouse gates`: create, list, show, update and delete gates. */
import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { CliError } from './cli-error.ts'
import { withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { type GateFlags, setsSomeDefaults, toGateBody, withGateOptions } from './gate-options.ts'
import { confirmDeletion } from './input.ts'
import { formatTable, formatTime, printJson, printLine, type Row, toPrintable } from './output.ts'
import { asJson, example, isEmptyChange, parseLimit, printListing } from './program-parts.ts'

type Gate = Schemas['Gate']

export function bindGates(program: Command, context: CliContext): void {
  const gates = program
    .command('gates')
    .description('gates: the names that stand where a model name was')

  withGateOptions(gates.command('create <id>'))
    .description('make a gate')
    .addHelpText(
      'after',
      example(
        'gatehouse gates create assistant --target openai/gpt-5-mini',
        'gatehouse gates create fast --target groq/llama-3.3-70b-versatile --target openai/gpt-4o-mini',
      ),
    )
    .action(async (id: string, flags: GateFlags, command: Command) => {
      const { targets, ...settings } = toGateBody(flags)
      if (targets === undefined)
        throw new CliError('usage', 'A gate needs a target: give --target provider/model.')
      const gate = await withClient(context, (client) =>
        client.call('POST /v1/gates', 'id', { body: { id, ...settings, targets } }),
      )
      show(gate, asJson(command))
    })

  gates
    .command('list')
    .description('list the gates, newest first')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse gates list'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const listing = await withClient(context, (client) => client.listAll('GET /v1/gates', limit))
      printListing(listing, command, {
        columns: ['ID', 'TARGETS'],
        toRow: (row) => ({ ID: row.id, TARGETS: targetsOf(row).join(', ') }),
      })
    })

  gates
    .command('show <id>')
    .description('show one gate')
    .addHelpText('after', example('gatehouse gates show assistant'))
    .action(async (id: string, _flags, command: Command) => {
      show(
        await withClient(context, (client) =>
          client.call('GET /v1/gates/{id}', 'id', { path: { id } }),
        ),
        asJson(command),
      )
    })

  withGateOptions(gates.command('update <id>'))
    .option('--clear-defaults', 'take all defaults away, but for those given with it')
    .description('change a gate; what is not given stays as it is')
    .addHelpText(
      'after',
      example('gatehouse gates update assistant --target openai/gpt-5 --max-retries 1'),
    )
    .action(async (id: string, flags: GateFlags, command: Command) => {
      if (isEmptyChange(toGateBody(flags)))
        throw new CliError('usage', 'There is nothing to change: give at least one option.')
      const gate = await withClient(context, async (client) => {
        // Defaults change together, so those that are not given are read first.
        const current = setsSomeDefaults(flags)
          ? await client.call('GET /v1/gates/{id}', 'id', { path: { id } })
          : {}
        return client.call('PATCH /v1/gates/{id}', 'id', {
          path: { id },
          body: toGateBody(flags, current),
        })
      })
      show(gate, asJson(command))
    })

  gates
    .command('test <id>')
    .description(
      'ask every target of a gate once, with a tiny call that counts and is logged like any other',
    )
    .addHelpText('after', example('gatehouse gates test assistant'))
    .action(async (id: string, _flags, command: Command) => {
      const test = await withClient(context, (client) =>
        client.call('POST /v1/gates/{id}/test', 'results', { path: { id } }),
      )
      showTest(test, asJson(command))
    })

  gates
    .command('delete <id>')
    .description('delete a gate; calls through it are refused at once')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse gates delete assistant --yes'))
    .action(async (id: string, flags: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the gate ${id}`, flags.yes === true)
      await withClient(context, (client) =>
        client.remove('DELETE /v1/gates/{id}', { path: { id } }),
      )
      if (asJson(command)) return printJson({ id, deleted: true })
      printLine(`Deleted ${id}.`)
    })
}

export function targetsOf({ targets }: Pick<Gate, 'targets'>): string[] {
  return targets.map(({ model }) => model)
}

function show(gate: Gate, isJson: boolean): void {
  if (isJson) {
    printJson(gate)
    return
  }
  const fields: readonly (readonly [string, string])[] = [
    ['id', gate.id],
    ['name', gate.displayName],
    ['description', gate.description || '-'],
    ['targets', targetsOf(gate).join(', ')],
    ['strategy', gate.strategy],
    ['hedge after', gate.hedgeAfterMs === null ? 'never' : `${gate.hedgeAfterMs} ms`],
    ['overrides', gate.overrides],
    ...defaultsOf(gate),
    ['timeout', gate.timeoutMs === null ? "the server's limit" : `${gate.timeoutMs} ms`],
    ['retries', String(gate.maxRetries)],
    ['created', formatTime(gate.createdAt)],
    ['updated', formatTime(gate.updatedAt)],
  ]
  for (const [name, value] of fields) printLine(`${name.padEnd(NAME_WIDTH)}${toPrintable(value)}`)
}

const NAME_WIDTH = 15

const DEFAULT_NAMES: readonly (readonly [keyof Gate['defaults'], string])[] = [
  ['instructions', 'instructions'],
  ['temperature', 'temperature'],
  ['topP', 'top p'],
  ['maxOutputTokens', 'output limit'],
  ['reasoningEffort', 'effort'],
]

/** Those that the gate has; instructions on one line, and not all of them. */
function defaultsOf({ defaults }: Gate): (readonly [string, string])[] {
  return DEFAULT_NAMES.filter(([member]) => defaults[member] !== undefined).map(
    ([member, name]) => {
      const text = String(defaults[member]).replaceAll(/\s+/g, ' ')
      return [name, text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text]
    },
  )
}

const MAX_SHOWN = 60

type GateTest = Schemas['GateTest']

/** @throws CliError when a target failed, so that scripts see it */
function showTest(test: GateTest, isJson: boolean): void {
  const { results } = test
  if (isJson) printJson(test)
  else printLine(formatTable(['TARGET', 'STATUS', 'MS', 'TOKENS', 'ERROR'], results.map(toRow)))
  const failed = results.filter((result) => result.status !== 'ok').length
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} targets failed.`)
}

function toRow({ target, status, latencyMs, usage, error }: GateTest['results'][number]): Row {
  return {
    TARGET: target,
    STATUS: status,
    MS: String(latencyMs),
    TOKENS: usage === undefined ? '-' : `${usage.inputTokens}+${usage.outputTokens}`,
    ERROR: error === undefined ? '' : `${error.code}: ${error.message}`,
  }
}
