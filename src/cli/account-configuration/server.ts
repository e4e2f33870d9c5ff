import { z } from 'zod'
import { type ConfigurationSection, ofPlainSections } from '../../contract/account-configuration.ts'
import type { Schemas } from '../../contract/api.generated.ts'
import type { AnswerOf, ListName, OperationName, RemovalName } from '../../contract/api-call.ts'
import { toLabel } from '../../contract/text.ts'
import { CliError } from '../cli-error.ts'
import type { Client, JsonObject, Listing } from '../client.ts'
import { KINDS, type Kind, toComplete } from './kinds.ts'
import { People } from './people.ts'

export interface ServerEntry {
  readonly entry: JsonObject
  readonly handle: string
}

export interface ServerState {
  readonly people: People
  /** How many resources have each name, of kinds whose entries add to existing resources. */
  readonly names: ReadonlyMap<Kind, ReadonlyMap<string, number>>
  readonly entries: ReadonlyMap<Kind, readonly ServerEntry[]>
  readonly providerIds: readonly string[]
  readonly notes: readonly string[]
}

const MOST_ROWS = 100_000

/** @throws CliError when the server's version has resources that this command cannot read */
export async function readServer(client: Client): Promise<ServerState> {
  const description = await client.call('GET /openapi.json', 'paths')
  const kinds = KINDS.filter(({ section }) =>
    Object.hasOwn(description.paths, OPERATIONS[section].path),
  )
  const people = await People.read(client)
  const entries = new Map<Kind, readonly ServerEntry[]>()
  const names = new Map<Kind, ReadonlyMap<string, number>>()
  const notes: string[] = []
  for (const kind of kinds) {
    const { rows } = await OPERATIONS[kind.section].list(client, MOST_ROWS)
    const ofKind = rows.filter((row) => kind.isKept(row))
    const counts = countNames(rows)
    const isNamed = (row: JsonObject) => counts.get(String(row.name)) === 1
    const kept = kind.isOfExisting === true ? ofKind.filter(isNamed) : ofKind
    if (kind.isOfExisting === true) names.set(kind, counts)
    entries.set(
      kind,
      kept.map((row) => ({
        entry: people.toFile(kind, toEntry(kind, row)),
        handle: String(row[kind.handle]),
      })),
    )
    for (const row of ofKind)
      if (!kept.includes(row))
        notes.push(
          `The ${kind.label} ${String(row.name)} (${String(row.id)}) are left out: several have ` +
            'this name.',
        )
    const leftOut = kind.section === 'budgets' ? rows.length - kept.length : 0
    if (leftOut > 0) {
      const subject =
        leftOut === 1
          ? '1 budget of a key or a member is'
          : `${leftOut} budgets of keys and members are`
      notes.push(`${subject} left out: keys and members have other ids elsewhere.`)
    }
    const unknown = membersOf(description, kind).filter((member) => !isKnown(kind, member))
    if (unknown.length > 0)
      notes.push(
        `The server is newer than this command: ${unknown.join(', ')} of a ${kind.label} is ` +
          'not read and not changed.',
      )
  }
  notes.push(...notesOnDeletedGates(entries))
  const { data } = await client.call('GET /v1/providers', 'data')
  const providerIds = data.map(({ id }) => id)
  return { entries, names, people, providerIds, notes }
}

function countNames(rows: readonly JsonObject[]): ReadonlyMap<string, number> {
  const names = rows.map(({ name }) => String(name))
  return new Map(
    [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => [name, length]),
  )
}

function notesOnDeletedGates(entries: ServerState['entries']): readonly string[] {
  const [gates, budgets] = (['gates', 'budgets'] as const).map((section) => {
    const kind = KINDS.find((candidate) => candidate.section === section)
    return (kind === undefined ? undefined : entries.get(kind)) ?? []
  })
  const ids = new Set(gates?.map(({ entry }) => entry.id))
  const left =
    budgets?.filter(({ entry: { gateId } }) => gateId !== undefined && !ids.has(gateId)) ?? []
  return left.map(
    ({ entry, handle }) =>
      `The budget ${handle} limits the gate '${String(entry.gateId)}', which was deleted. ` +
      `Delete it with: gatehouse budgets delete ${handle}`,
  )
}

function isKnown(kind: Kind, member: string): boolean {
  return Object.hasOwn(kind.members, member) || kind.withheld.includes(member)
}

function membersOf(
  { components }: AnswerOf<'GET /openapi.json'>,
  { creationSchema }: Kind,
): readonly string[] {
  return Object.keys(components.schemas[creationSchema]?.properties ?? {})
}

/** Servers keep names from before the contract restricted names. */
function asTaken(value: unknown, schema: z.ZodType): unknown {
  if (typeof value !== 'string' || schema.safeParse(value).success) return value
  return toLabel(value) || undefined
}

export function toEntry(kind: Kind, row: JsonObject): JsonObject {
  const given = Object.entries(kind.members).flatMap(([member, schema]) => {
    const value = asTaken(row[member], schema)
    const isAbsent = value === undefined || (value === null && !schema.safeParse(null).success)
    return isAbsent ? [] : [[member, value]]
  })
  try {
    return toComplete(kind, Object.fromEntries(given))
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error
    const fields = error.issues.map(({ path }) => path.join('.')).join(', ')
    throw new CliError(
      'failed',
      `This command cannot read the ${kind.label} ${row[kind.handle]} (${fields}): ` +
        `use the command of the server's own version.`,
    )
  }
}

export type Saved = Partial<
  Pick<Schemas['Webhook'], 'id'> & Pick<Schemas['SavedOwnedModel'], 'warnings'>
>

interface Operations {
  readonly path: string
  list(client: Client, limit: number): Promise<Listing<JsonObject>>
  create(client: Client, body: JsonObject, credential: string | undefined): Promise<Saved>
  /**
   * Reads the current entry with its version.
   * @throws CliError `notFound`
   */
  read(
    client: Client,
    handle: string,
  ): Promise<{ readonly body: JsonObject; readonly version: string | undefined }>
  /** @throws CliError `conflict` when the version differs; an undefined version matches any */
  update(
    client: Client,
    handle: string,
    change: { readonly body: JsonObject; readonly version: string | undefined },
  ): Promise<Saved>
  remove(client: Client, handle: string, version: string | undefined): Promise<void>
}

type CollectionPath<Name = OperationName> = Name extends `POST ${infer Path}` ? Path : never

export const OPERATIONS: Readonly<Record<ConfigurationSection, Operations>> = {
  ownedModels: operationsAt('/v1/owned-models', 'slug'),
  gates: operationsAt('/v1/gates'),
  budgets: operationsAt('/v1/budgets'),
  webhooks: operationsAt('/v1/webhooks'),
  attribution: {
    path: '/v1/account/attribution',
    async list(client) {
      const row = await client.callNamed('GET /v1/account/attribution', 'sessions')
      return { rows: [row], hasMore: false }
    },
    // Unreachable, because an account always has these settings.
    create: () => Promise.reject(new Error('attribution settings are not created')),
    read: (client) => client.readNamed('GET /v1/account/attribution', 'sessions'),
    update: (client, _, change) =>
      client.callNamed('PATCH /v1/account/attribution', 'sessions', change),
    remove: () => Promise.reject(new Error('attribution settings are not deleted')),
  },
  keys: ofExisting('/v1/keys', { user: null, tags: [] }),
  accessTokens: ofExisting('/v1/access-tokens', { tags: [] }),
  ...ofPlainSections(({ place }) => operationsAt(`/v1/${place}`)),
}

/** @param nothing the body that removes what an entry adds */
function ofExisting(path: CollectionPath, nothing: JsonObject): Operations {
  const operations = operationsAt(path)
  return {
    ...operations,
    async create(client, { name, ...body }) {
      const { rows } = await operations.list(client, MOST_ROWS)
      const [found, second] = rows.filter((row) => row.name === name)
      if (found === undefined || second !== undefined)
        throw new CliError('conflict', `Not exactly one has the name ${String(name)} any more.`)
      return await operations.update(client, String(found.id), { body, version: undefined })
    },
    async remove(client, handle, version) {
      await operations.update(client, handle, { body: nothing, version })
    },
  }
}

/** The contract's schema has parsed the body, so the type of the body is asserted. */
function operationsAt(path: CollectionPath, parameter = 'id'): Operations {
  const one = `${path}/{${parameter}}`
  const named = (handle: string) => ({ [parameter]: handle })
  return {
    path,
    list: (client, limit) => client.listAll(`GET ${path}` as ListName, limit),
    create: (client, body, credential) =>
      client.callNamed(`POST ${path}`, parameter, { body: { ...body, credential } }),
    read: (client, handle) => client.readNamed(`GET ${one}`, parameter, { path: named(handle) }),
    update: (client, handle, { body, version }) =>
      client.callNamed(`PATCH ${one}`, parameter, { path: named(handle), body, version }),
    async remove(client, handle, version) {
      await client.removeNamed(`DELETE ${one}` as RemovalName, { path: named(handle), version })
    },
  }
}
