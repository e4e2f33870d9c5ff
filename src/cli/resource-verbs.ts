import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import type { AnswerOf, ListName, OperationName, RemovalName, RowOf } from '../contract/api-call.ts'
import { CliError } from './cli-error.ts'
import { type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion } from './input.ts'
import { type Columns, printJson, printLine, printNote } from './output.ts'
import { asJson, example, isEmptyChange, parseLimit, printListing } from './program-parts.ts'

interface Verb {
  readonly about: string
  readonly examples: readonly string[]
}

export type Fact = readonly [name: string, value: string]

export function addList<Name extends ListName>(
  resource: Command,
  context: CliContext,
  verb: Verb & {
    readonly ask: Name
    readonly columns: Columns<RowOf<Name>> | ((client: Client) => Promise<Columns<RowOf<Name>>>)
  },
): void {
  resource
    .command('list')
    .description(verb.about)
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example(...verb.examples))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const { ask, columns } = verb
      const [listing, shown] = await withClient(context, async (client) => [
        await client.listAll(ask, limit),
        typeof columns === 'function' ? await columns(client) : columns,
      ])
      printListing(listing, command, shown)
    })
}

export function addShow<Name extends OperationName & `GET ${string}`>(
  resource: Command,
  context: CliContext,
  verb: Verb & {
    readonly ask: Name
    readonly one: string
    readonly argument?: string
    readonly findId?: (client: Client, given: string) => Promise<string>
    readonly show: (
      answer: NonNullable<AnswerOf<Name>>,
      isJson: boolean,
      facts: readonly Fact[],
    ) => void
    readonly findFacts?: (
      client: Client,
      answer: NonNullable<AnswerOf<Name>>,
    ) => Promise<readonly Fact[]>
  },
): void {
  const parameter = parameterOf(verb.ask)
  resource
    .command('show')
    .argument(`<${parameter}>`, verb.argument ?? idOf(verb.one))
    .description(verb.about)
    .addHelpText('after', example(...verb.examples))
    .action(async (given: string, _flags, command: Command) => {
      const [answer, facts] = await withClient(context, async (client) => {
        const id = (await verb.findId?.(client, given)) ?? given
        const question = { path: { [parameter]: id } }
        const answer = (await client.callNamed(verb.ask, parameter, question)) as NonNullable<
          AnswerOf<Name>
        >
        return [answer, (await verb.findFacts?.(client, answer)) ?? []] as const
      })
      verb.show(answer, asJson(command), facts)
    })
}

export function addAct<Flags, Body, Answer>(
  resource: Command,
  context: CliContext,
  verb: Verb & {
    readonly name: string
    readonly argument: readonly [name: string, help: string]
    readonly options?: (command: Command) => unknown
    /** Runs before the request: checks options and reads secrets. */
    readonly toBody: (flags: Flags, given: string) => Body | Promise<Body>
    readonly send: (client: Client, given: string, body: Body) => Promise<Answer>
    readonly show: (answer: Answer, isJson: boolean) => void
  },
): void {
  const [argument, help] = verb.argument
  const command = resource.command(verb.name).argument(`<${argument}>`, help)
  command.description(verb.about)
  verb.options?.(command)
  command
    .addHelpText('after', example(...verb.examples))
    .action(async (given: string, flags: Flags, self: Command) => {
      const body = await verb.toBody(flags, given)
      const answer = await withClient(context, (client) => verb.send(client, given, body))
      verb.show(answer, asJson(self))
    })
}

export function changesOf<Body extends object>(body: Body): Body {
  if (isEmptyChange(body))
    throw new CliError('usage', 'There is nothing to change: give at least one option.')
  return body
}

export function addDelete(
  resource: Command,
  context: CliContext,
  verb: Verb & {
    readonly ask: RemovalName
    readonly one: string
    readonly argument?: string
    readonly findId?: (client: Client, given: string) => Promise<string>
    readonly nameOf?: (id: string) => string
    readonly findRest?: (client: Client, id: string) => Promise<readonly string[]>
  },
): void {
  const parameter = parameterOf(verb.ask)
  resource
    .command('delete')
    .argument(`<${parameter}>`, verb.argument ?? idOf(verb.one))
    .description(verb.about)
    .option('--yes', 'do not ask')
    .addHelpText('after', example(...verb.examples))
    .action(async (given: string, flags: { yes?: boolean }, command: Command) => {
      const { findId, nameOf } = verb
      // A question does not keep the data folder open, because other programs may need the folder.
      const id =
        findId === undefined ? given : await withClient(context, (client) => findId(client, given))
      await confirmDeletion(nameOf?.(id) ?? `the ${verb.one} ${id}`, flags.yes === true)
      const [report, rest] = await withClient(context, async (client) => [
        await client.removeNamed(verb.ask, { path: { [parameter]: id } }),
        (await verb.findRest?.(client, id)) ?? [],
      ])
      if (asJson(command)) printJson({ [parameter]: id, deleted: true, ...report })
      else printLine(`Deleted ${nameOf?.(id) ?? id}.${report ? describeEnd(report) : ''}`)
      for (const note of rest) printNote(note)
    })
}

/** The outcome of ending running calls, as a sentence that follows another. */
export function describeEnd({ callsEnded, nodesNotHeard }: Schemas['StopReport']): string {
  const calls =
    callsEnded === 0 ? '' : ` ${callsEnded} running ${callsEnded === 1 ? 'call' : 'calls'} ended.`
  const nodes = nodesNotHeard === 1 ? '1 node' : `${nodesNotHeard} nodes`
  return nodesNotHeard === 0
    ? calls
    : `${calls} ${nodes} did not confirm: new calls are refused there, running calls may continue.`
}

export function idOf(one: string): string {
  return `the ${one}, as ${one.replace(' ', '-')}s list shows it`
}

function parameterOf(operation: string): string {
  return operation.slice(operation.indexOf('{') + 1, operation.indexOf('}'))
}
