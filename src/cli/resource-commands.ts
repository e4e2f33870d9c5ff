/**
 * The verbs of a plain resource, made of its description: create, list, show, update, delete. Knows
 * none of them.
 */
import type { Command } from 'commander'
import type { ListName, RemovalName } from '../contract/api-call.ts'
import type { PlainDescription } from '../contract/resource-description.ts'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion } from './input.ts'
import { formatTime, printJson, printLine, toPrintable } from './output.ts'
import { asJson, example, isEmptyChange, parseLimit, printListing } from './program-parts.ts'

type Flags = Readonly<Record<string, string | undefined>>

export function resourceCommands(description: PlainDescription) {
  return (program: Command, context: CliContext): void => {
    const { one, many, path, namedBy: argument } = description
    const { about, options, columns, id: anId, example: tried } = description.commands
    const words = path.slice(path.lastIndexOf('/') + 1)
    const parent = program.command(words).description(`${many}: ${about}`)

    const create = parent.command(`create <${argument}>`).description(`make a ${one}`)
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

    parent
      .command('list')
      .description(`list the ${many}, newest first`)
      .option('--limit <n>', 'at most this many', parseLimit, 100)
      .addHelpText('after', example(`gatehouse ${words} list`))
      .action(async ({ limit }: { limit: number }, command: Command) => {
        const listing = await withClient(context, (client) =>
          client.listAll(`GET ${path}` as ListName, limit),
        )
        printListing<JsonObject>(listing, command, {
          columns: Object.keys(columns),
          toRow: (row) =>
            Object.fromEntries(
              Object.entries(columns).map(([heading, member]) => [heading, String(row[member])]),
            ),
        })
      })

    parent
      .command('show <id>')
      .description(`show one ${one}`)
      .addHelpText('after', example(`gatehouse ${words} show ${anId}`))
      .action(async (id: string, _flags, command: Command) => {
        const row = await withClient(context, (client) =>
          client.callNamed(`GET ${path}/{id}`, 'id', { path: { id } }),
        )
        show(row, asJson(command))
      })

    const update = parent
      .command('update <id>')
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

    parent
      .command('delete <id>')
      .description(`delete a ${one}`)
      .option('--yes', 'do not ask')
      .addHelpText('after', example(`gatehouse ${words} delete ${anId} --yes`))
      .action(async (id: string, flags: { yes?: boolean }, command: Command) => {
        await confirmDeletion(`the ${one} ${id}`, flags.yes === true)
        await withClient(context, (client) =>
          client.remove(`DELETE ${path}/{id}` as RemovalName, { path: { id } }),
        )
        if (asJson(command)) return printJson({ id, deleted: true })
        printLine(`Deleted ${id}.`)
      })
  }
}

function pick(flags: Flags, members: readonly string[]): Flags {
  return Object.fromEntries(members.map((member) => [member, flags[member]]))
}

function show(row: JsonObject, isJson: boolean): void {
  if (isJson) {
    printJson(row)
    return
  }
  const fields = Object.entries(row).map(([member, value]) =>
    member === 'createdAt'
      ? (['created', formatTime(String(value))] as const)
      : ([member, String(value)] as const),
  )
  const width = Math.max(...fields.map(([name]) => name.length)) + 2
  for (const [name, value] of fields) printLine(`${name.padEnd(width)}${toPrintable(value)}`)
}
