/** `gatehouse gates`: create, list, show, update and delete gates. */
import { type Command, Option } from 'commander'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion } from './input.ts'
import { formatTime, printJson, printLine, toPrintable } from './output.ts'
import { asJson, example, parseLimit, parseWhole, printListing } from './program-parts.ts'

interface GateFlags {
  readonly target?: readonly string[]
  readonly name?: string
  readonly description?: string
  readonly timeoutMs?: number | null
  readonly maxRetries?: number
  readonly strategy?: string
  readonly weights?: readonly number[]
  readonly hedgeAfterMs?: number | null
}

export function bindGates(program: Command, context: CliContext): void {
  const gates = program.command('gates').description('gates: the names that stand where a model name was')

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
      if (flags.target === undefined)
        throw new CliError('usage', 'A gate needs a target: give --target provider/model.')
      const gate = await withClient(context, (client) =>
        client.json('/v1/gates', 'id', { method: 'POST', body: { id, ...toBody(flags) } }),
      )
      show(gate, asJson(command))
    })

  gates
    .command('list')
    .description('list the gates, newest first')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse gates list'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const listing = await withClient(context, (client) => client.list('/v1/gates', limit))
      printListing(listing, command, {
        columns: ['ID', 'TARGETS'],
        toRow: (row) => ({ ID: String(row.id), TARGETS: targetsOf(row).join(', ') }),
      })
    })

  gates
    .command('show <id>')
    .description('show one gate')
    .addHelpText('after', example('gatehouse gates show assistant'))
    .action(async (id: string, _flags, command: Command) => {
      show(await withClient(context, (client) => client.json(pathOf(id), 'id')), asJson(command))
    })

  withGateOptions(gates.command('update <id>'))
    .description('change a gate; what is not given stays as it is')
    .addHelpText('after', example('gatehouse gates update assistant --target openai/gpt-5 --max-retries 1'))
    .action(async (id: string, flags: GateFlags, command: Command) => {
      if (Object.keys(toBody(flags)).length === 0)
        throw new CliError('usage', 'There is nothing to change: give at least one option.')
      const gate = await withClient(context, (client) =>
        client.json(pathOf(id), 'id', { method: 'PATCH', body: toBody(flags) }),
      )
      show(gate, asJson(command))
    })

  gates
    .command('delete <id>')
    .description('delete a gate; calls through it are refused at once')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse gates delete assistant --yes'))
    .action(async (id: string, flags: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the gate ${id}`, flags.yes === true)
      await withClient(context, (client) => client.delete(pathOf(id)))
      if (asJson(command)) return printJson({ id, deleted: true })
      printLine(`Deleted ${id}.`)
    })
}

function withGateOptions(command: Command): Command {
  return command
    .option('--target <provider/model>', 'a target; again for each further one, in their order', collect)
    .option('--name <text>', 'display name')
    .option('--description <text>', 'what it is for')
    .option(
      '--timeout-ms <ms>',
      "longest call, in milliseconds, or 'none' for the server's limit",
      parseTimeout,
    )
    .addOption(
      new Option('--strategy <name>', 'which target is asked first').choices([
        'fallback',
        'weighted',
        'fastest',
      ]),
    )
    .option('--weights <n,n,…>', 'shares of the targets under weighted, in their order', parseWeights)
    .option(
      '--hedge-after-ms <ms>',
      "ask the next target as well when the first byte is this late, or 'none'",
      parseTimeout,
    )
    .option('--max-retries <n>', 'times a target is tried again, 0 to 5', (text) =>
      parseWhole(text, { min: 0, max: 5 }),
    )
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}

function parseTimeout(text: string): number | null {
  return text === 'none' ? null : parseWhole(text, { min: 1, max: 3_600_000 })
}

function parseWeights(text: string): readonly number[] {
  return text.split(',').map((weight) => parseWhole(weight.trim(), { min: 0, max: 1000 }))
}

function toTarget(model: string, weight: number | undefined): JsonObject {
  return weight === undefined ? { model } : { model, weight }
}

/** Only what was given, so that a PATCH changes nothing else. */
function toBody(flags: GateFlags): JsonObject {
  const { target, weights, name, description, strategy, hedgeAfterMs, timeoutMs, maxRetries } = flags
  if (weights !== undefined && weights.length !== (target?.length ?? 0))
    throw new CliError('usage', 'Give as many --weights as there are --target options.')
  return {
    ...(target === undefined
      ? {}
      : { targets: target.map((model, index) => toTarget(model, weights?.[index])) }),
    ...(name === undefined ? {} : { displayName: name }),
    ...(description === undefined ? {} : { description }),
    ...(strategy === undefined ? {} : { strategy }),
    ...(hedgeAfterMs === undefined ? {} : { hedgeAfterMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxRetries === undefined ? {} : { maxRetries }),
  }
}

function pathOf(id: string): string {
  return `/v1/gates/${encodeURIComponent(id)}`
}

export function targetsOf(gate: JsonObject): string[] {
  const targets = gate.targets
  return Array.isArray(targets) ? targets.map((target) => String(target.model)) : []
}

function show(gate: JsonObject, isJson: boolean): void {
  if (isJson) {
    printJson(gate)
    return
  }
  const fields: readonly (readonly [string, string])[] = [
    ['id', String(gate.id)],
    ['name', String(gate.displayName)],
    ['description', String(gate.description || '-')],
    ['targets', targetsOf(gate).join(', ')],
    ['strategy', String(gate.strategy)],
    ['hedge after', gate.hedgeAfterMs === null ? 'never' : `${gate.hedgeAfterMs} ms`],
    ['timeout', gate.timeoutMs === null ? "the server's limit" : `${gate.timeoutMs} ms`],
    ['retries', String(gate.maxRetries)],
    ['created', formatTime(gate.createdAt)],
    ['updated', formatTime(gate.updatedAt)],
  ]
  for (const [name, value] of fields) printLine(`${name.padEnd(12)}${toPrintable(value)}`)
}
