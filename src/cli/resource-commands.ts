import type { Command } from 'commander'
import type { ListName, OperationName, RemovalName } from '../contract/api-call.ts'
import type { PlainResource } from '../contract/plain-resources.ts'
import type { Client, JsonObject } from './client.ts'
import type { CliContext } from './context.ts'
import { readMemberEmails } from './member-id.ts'
import { formatTime, printThing } from './output.ts'
import { plainId } from './plain-id.ts'
import {
  addAct,
  addDelete,
  addList,
  addShow,
  changesOf,
  type Fact,
  idOf,
} from './resource-verbs.ts'

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
    const listed = Object.keys(lists)
    const emailsFor = async (client: Client) =>
      listed.length === 0 ? asItIs : await readMemberEmails(client)
    const findId = (client: Client, given: string) => plainId(client, resource, given)
    const theOne = `${idOf(one)}, or its ${argument}`
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
      send: async (client, _, body) => ({
        row: await client.callNamed(`POST ${path}`, 'id', { body }),
        emailOf: await emailsFor(client),
      }),
      show,
    })

    addList(parent, context, {
      ask: `GET ${path}` as ListName,
      about: `list the ${many}, newest first`,
      examples: [`gatehouse ${words} list`],
      columns: Object.fromEntries(
        ['id', ...listed, ...Object.keys(fields)].map((member) => [
          member.toUpperCase(),
          (row: object) => {
            const value = (row as JsonObject)[member]
            return String(Array.isArray(value) ? value.length : value)
          },
        ]),
      ),
    })

    addShow(parent, context, {
      ask: `GET ${path}/{id}` as `GET ${string}` & OperationName,
      one,
      about: `show one ${one}`,
      examples: [`gatehouse ${words} show ${tried}`],
      argument: theOne,
      findId,
      findFacts: async (client, row) =>
        factsOf({ row: row as object as JsonObject, emailOf: await emailsFor(client) }),
      show: (row, isJson, facts) => printThing(row as object, isJson, facts),
    })

    addAct(parent, context, {
      name: 'update',
      argument: ['id', theOne],
      about: `change a ${one}; only the given options change`,
      examples: [`gatehouse ${words} update ${anId} --${argument} ${tried}`],
      options(command) {
        command.option(`--${argument} <text>`, `another ${argument}`)
        addOptions(command)
      },
      toBody: (flags: Flags) =>
        changesOf(pick(flags, [...Object.keys(fields), ...Object.keys(lists)])),
      send: async (client, given, body) => {
        const id = await findId(client, given)
        return {
          row: await client.callNamed(`PATCH ${path}/{id}`, 'id', { path: { id }, body }),
          emailOf: await emailsFor(client),
        }
      },
      show,
    })

    addDelete(parent, context, {
      ask: `DELETE ${path}/{id}` as RemovalName,
      one,
      about: `delete a ${one}`,
      argument: theOne,
      findId,
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

interface Shown {
  readonly row: JsonObject
  /** Turns the id of a member into the e-mail address. */
  readonly emailOf: (id: string) => string
}

function show(shown: Shown, isJson: boolean): void {
  printThing(shown.row, isJson, factsOf(shown))
}

function factsOf({ row, emailOf }: Shown): readonly Fact[] {
  return Object.entries(row).map(([member, value]) => {
    if (member === 'createdAt') return ['created', formatTime(String(value))]
    if (Array.isArray(value)) return [member, value.map(emailOf).join(', ') || 'none']
    return [member, String(value)]
  })
}

function asItIs(id: string): string {
  return id
}
