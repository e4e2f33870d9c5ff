/** Commands of a plain resource, from its description. Knows no resource. */
import type { Command } from 'commander'
import type { ListName, OperationName, RemovalName } from '../contract/api-call.ts'
import type { PlainResource } from '../contract/plain-resources.ts'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, printThing } from './output.ts'
import { asJson, example, isEmptyChange } from './program-parts.ts'
import { addDelete, addList, addShow, idOf } from './resource-verbs.ts'

type Flags = Readonly<Record<string, string | undefined>>

export function resourceCommands(resource: PlainResource) {
  return (program: Command, context: CliContext): void => {
    const { one, many, place: words, namedBy: argument, about, fields } = resource
    const path = `/v1/${words}`
    const options = Object.keys(fields).filter((field) => field !== argument)
    const addOptions = (command: Command) => {
      for (const option of options) command.option(`--${option} <text>`, fields[option]?.help)
    }
    const tried = fields[argument]?.example ?? ''
    const anId = resource.examples.id.replace(/_.*/, '_…')
    const parent = program.command(words).description(`${many}: ${about}`)

    const create = parent
      .command('create')
      .argument(`<${argument}>`, `by which people will know the ${one}`)
      .description(`create a ${one}`)
    addOptions(create)
    create
      .addHelpText('after', example(`gatehouse ${words} create ${tried}`))
      .action(async (given: string, flags: Flags, command: Command) => {
        const body = { [argument]: given, ...pick(flags, options) }
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
        ['id', ...Object.keys(fields)].map((member) => [
          member.toUpperCase(),
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
    addOptions(update)
    update
      .addHelpText('after', example(`gatehouse ${words} update ${anId} --${argument} ${tried}`))
      .action(async (id: string, flags: Flags, command: Command) => {
        const body = pick(flags, Object.keys(fields))
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
