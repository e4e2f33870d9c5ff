import type { Command } from 'commander'
import type { ListName, OperationName, RemovalName } from '../contract/api-call.ts'
import type { PlainResource } from '../contract/plain-resources.ts'
import type { JsonObject } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTime, printThing } from './output.ts'
import { addAct, addDelete, addList, addShow, changesOf, idOf } from './resource-verbs.ts'

type Flags = Readonly<Record<string, string | readonly string[] | undefined>>

export function resourceCommands(resource: PlainResource) {
  return (program: Command, context: CliContext): void => {
    const { one, many, place: words, namedBy: argument, about, fields, lists = {} } = resource
    const path = `/v1/${words}`
    const options = Object.keys(fields).filter((field) => field !== argument)
    const addOptions = (command: Command) => {
      for (const option of options) command.option(`--${option} <text>`, fields[option]?.help)
      for (const [option, { help }] of Object.entries(lists))
        command.option(`--${option} <text>`, help, collect)
    }
    const tried = fields[argument]?.example ?? ''
    const anId = resource.examples.id.replace(/_.*/, '_…')
    const parent = program.command(words).description(`${many}: ${about}`)

    addAct(parent, context, {
      name: 'create',
      argument: [argument, `${argument} of the ${one}`],
      about: `create a ${one}`,
      examples: [`gatehouse ${words} create ${tried}`],
      options: addOptions,
      toBody: (flags: Flags, given) => ({
        [argument]: given,
        ...pick(flags, [...options, ...Object.keys(lists)]),
      }),
      send: (client, _, body) => client.callNamed(`POST ${path}`, 'id', { body }),
      show,
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

    addAct(parent, context, {
      name: 'update',
      argument: ['id', idOf(one)],
      about: `change a ${one}; only the given options change`,
      examples: [`gatehouse ${words} update ${anId} --${argument} ${tried}`],
      options(command) {
        command.option(`--${argument} <text>`, `another ${argument}`)
        addOptions(command)
      },
      toBody: (flags: Flags) =>
        changesOf(pick(flags, [...Object.keys(fields), ...Object.keys(lists)])),
      send: (client, id, body) =>
        client.callNamed(`PATCH ${path}/{id}`, 'id', { path: { id }, body }),
      show,
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

/** `none` stands for an empty list. */
function collect(text: string, before: readonly string[] = []): readonly string[] {
  return text === 'none' ? [] : [...before, text]
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
