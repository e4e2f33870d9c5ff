/**
 * The verbs of a plain resource, made of its description: create, list, show, update, delete. Knows
 * none of them.
 */
import type { Command } from 'commander'
import type { ListName, OperationName, RemovalName } from '../contract/api-call.ts'
import type { PlainDescription } from '../contract/resource-description.ts'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, printThing } from './output.ts'
import { asJson, example, isEmptyChange } from './program-parts.ts'
import { addDelete, addList, addShow, idOf } from './resource-verbs.ts'

type Flags = Readonly<Record<string, string | undefined>>

export function resourceCommands(description: PlainDescription) {
  return (program: Command, context: CliContext): void => {
    const { one, many, path, namedBy: argument } = description
    const { about, options, columns, id: anId, example: tried } = description.commands
    const words = path.slice(path.lastIndexOf('/') + 1)
    const parent = program.command(words).description(`${many}: ${about}`)

    const create = parent
      .command('create')
      .argument(`<${argument}>`, `by which people will know the ${one}`)
      .description(`create a ${one}`)
    for (const [option, help] of Object.entries(options)) create.option(`--${option} <text>`, help)
    create
      .addHelpText('after', example(`gatehouse ${words} create ${tried}`))
      .action(async (given: string, flags: Flags, command: Command) => {
        const body = { [argument]: given, ...pick(flags, Object.keys(options)) }
        const made = await withClient(context, (client) =>
          client.callNamed(`POST ${path}`, 'id', { body }),
        )
        show(made, asJson(command))
      })

    addList(parent, context, {
      ask: `GET ${path}` as ListName,
      about: `list the ${many}, newest first`,
      examples: [`gatehouse ${words} list`],
      columns: Object.fromEntries(
        Object.entries(columns).map(([heading, member]) => [
          heading,
          (row: object) => String((row as JsonObject)[member]),
        ]),
      ),
    })

    addShow(parent, context, {
      ask: `GET ${path}/{id}` as `GET ${string}` & OperationName,
      one,
      about: `show one ${one}`,
      examples: [`gatehouse ${words} show ${anId}`],
      show: (row, isJson) => show(row as unknown as JsonObject, isJson),
    })

    const update = parent
      .command('update')
      .argument('<id>', idOf(one))
      .description(`change a ${one}; what is not given stays as it is`)
      .option(`--${argument} <text>`, `another ${argument}`)
    for (const [option, help] of Object.entries(options)) update.option(`--${option} <text>`, help)
    update
      .addHelpText('after', example(`gatehouse ${words} update ${anId} --${argument} ${tried}`))
      .action(async (id: string, flags: Flags, command: Command) => {
        const body = pick(flags, [argument, ...Object.keys(options)])
        if (isEmptyChange(body))
          throw new CliError('usage', 'There is nothing to change: give at least one option.')
        const row = await withClient(context, (client) =>
          client.callNamed(`PATCH ${path}/{id}`, 'id', { path: { id }, body }),
        )
        show(row, asJson(command))
      })

    addDelete(parent, context, {
      ask: `DELETE ${path}/{id}` as RemovalName,
      one,
      about: `delete a ${one}`,
      examples: [`gatehouse ${words} delete ${anId} --yes`],
    })
  }
}

function pick(flags: Flags, members: readonly string[]): Flags {
  return Object.fromEntries(members.map((member) => [member, flags[member]]))
}

function show(row: JsonObject, isJson: boolean): void {
  printThing(
    row,
    isJson,
    Object.entries(row).map(([member, value]) =>
      member === 'createdAt'
        ? (['created', formatTime(String(value))] as const)
        : ([member, String(value)] as const),
    ),
  )
}
