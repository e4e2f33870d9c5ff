import { isDeepStrictEqual } from 'node:util'
import type { YamlFault } from '../../config/yaml-document.ts'
import { findUnrecorded } from '../../contract/unrecorded-callers.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import { CliError } from '../cli-error.ts'
import type { Client, JsonObject } from '../client.ts'
import type { Change } from './change.ts'
import { type ConfigurationFile, type FileEntry, toFault } from './configuration-file.ts'
import { KINDS, type Kind, targetsOf, toCompact } from './kinds.ts'
import { namesOfGate, orderByNames } from './order-names.ts'
import { People } from './people.ts'
import { OPERATIONS, type Saved, type ServerEntry, type ServerState, toEntry } from './server.ts'

/**
 * Plans the changes that make the server match the file, each after the changes that it depends on;
 * deletions come last. Finds every fault before the first change.
 * @throws CliError naming line and member of everything in the file that this server would refuse
 */
export function planChanges(file: ConfigurationFile, server: ServerState): readonly Change[] {
  const faults: YamlFault[] = []
  const settings = settingsAfter(file, server)
  const kept: Change[] = []
  const deleted: Change[] = []
  for (const kind of KINDS) {
    const wanted = file.entries.get(kind)
    const existing = server.entries.get(kind)
    if (wanted === undefined) continue
    if (existing === undefined) {
      const [first] = wanted
      if (first !== undefined) faults.push({ line: first.lineOf(), message: noSuchKind(kind) })
      continue
    }
    const inSpelling = wanted.map((want) => ({
      ...want,
      entry: server.people.toFile(kind, want.entry),
    }))
    const { pairs, onlyWanted, onlyExisting } = match(kind, inSpelling, existing)
    for (const [want, have] of pairs) {
      const entry = { ...want.entry, ...pick(have.entry, want.open) }
      if (isDeepStrictEqual(entry, have.entry)) continue
      const change = toUpdate(kind, entry, have)
      kept.push(change)
      faults.push(...refuseImmutable(change, want))
    }
    for (const want of onlyWanted) {
      kept.push(toCreation(kind, want.entry))
      faults.push(...refuseUnrecorded(kind, want, settings))
    }
    deleted.push(...onlyExisting.map((have) => toDeletion(kind, have)))
  }
  faults.push(...refuseUnknownNames(file, server), ...refuseUnknownCallers(file, server))
  faults.push(...refuseSharedNames(file))
  if (faults.length > 0) throw toFault(file.path, faults)
  const order = (change: Change) => KINDS.indexOf(change.kind)
  const ordered = orderByNames(kept, deleted)
  return [...ordered.kept, ...ordered.deleted.toSorted((a, b) => order(b) - order(a))]
}

function noSuchKind({ section, label }: Kind): string {
  return (
    `${section} is not possible here: this server knows no ${label}. Update the server, or take ` +
    'the section out'
  )
}

function match(kind: Kind, wanted: readonly FileEntry[], existing: readonly ServerEntry[]) {
  const left = new Map<string, ServerEntry[]>()
  for (const have of existing) {
    const identity = kind.identityOf(have.entry)
    left.set(identity, [...(left.get(identity) ?? []), have])
  }
  const take = (
    want: FileEntry,
    isFit: (have: ServerEntry) => boolean,
  ): ServerEntry | undefined => {
    const candidates = left.get(kind.identityOf(want.entry)) ?? []
    const index = candidates.findIndex(isFit)
    return index < 0 ? undefined : candidates.splice(index, 1)[0]
  }
  const alike = wanted.map((want) =>
    take(want, (have) => isDeepStrictEqual(have.entry, want.entry)),
  )
  const pairs: [FileEntry, ServerEntry][] = []
  const onlyWanted: FileEntry[] = []
  for (const [index, want] of wanted.entries()) {
    const have = alike[index] ?? take(want, () => true)
    if (have === undefined) onlyWanted.push(want)
    else pairs.push([want, have])
  }
  return { pairs, onlyWanted, onlyExisting: [...left.values()].flat() }
}

function toCreation(kind: Kind, entry: JsonObject): Change {
  const name = kind.identityOf(entry)
  const body = toCompact(kind, entry)
  const fields = flatten(body)
    .filter(([field]) => field !== kind.namedBy)
    .map(([field, to]) => ({ field, from: undefined, to }))
  return { action: 'create', kind, name, fields, body, handle: undefined, before: undefined }
}

function toUpdate(kind: Kind, entry: JsonObject, { entry: before, handle }: ServerEntry): Change {
  const changed = Object.keys(kind.members).filter(
    (member) => !isDeepStrictEqual(entry[member], before[member]),
  )
  const from = new Map(flatten(pick(before, changed)))
  const to = new Map(flatten(pick(entry, changed)))
  const fields = [...new Set([...from.keys(), ...to.keys()])]
    .map((field) => ({ field, from: from.get(field), to: to.get(field) }))
    .filter((field) => !isDeepStrictEqual(field.from, field.to))
  return {
    action: 'update',
    kind,
    name: kind.identityOf(entry),
    fields,
    body: pick(entry, changed),
    handle,
    before,
  }
}

function toDeletion(kind: Kind, { entry: before, handle }: ServerEntry): Change {
  const name = kind.identityOf(before)
  return { action: 'delete', kind, name, fields: [], body: {}, handle, before }
}

function pick(entry: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(members.map((member) => [member, entry[member]]))
}

/**
 * Objects are compared member by member, lists as a whole, because their order and length matter.
 */
function flatten(entry: JsonObject, before = ''): [string, unknown][] {
  return Object.entries(entry).flatMap(([member, value]): [string, unknown][] => {
    const field = `${before}${member}`
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isObject) return flatten(value as JsonObject, `${field}.`)
    return value === undefined ? [] : [[field, value]]
  })
}

function refuseImmutable({ kind, body }: Change, { place, lineOf }: FileEntry): YamlFault[] {
  return Object.keys(body)
    .filter((member) => !kind.changeable.has(member))
    .map((member) => ({
      line: lineOf(member),
      message:
        `${place}.${member} cannot be changed on the server; give the ` +
        `${kind.label} another ${kind.namedBy ?? kind.handle}`,
    }))
}

/**
 * Refuses targets and gates that will not exist when a change needs them. What the server already
 * has in the same form is accepted: a budget stays when its gate is deleted.
 */
function refuseUnknownNames(file: ConfigurationFile, server: ServerState): YamlFault[] {
  const namesOf = (section: Kind['section']) => {
    const kind = KINDS.find((candidate) => candidate.section === section)
    if (kind === undefined) return new Set<string>()
    // If the file has the section, an entry that only the server has counts as deleted, because a
    // deletion may follow at any time.
    const entries = file.entries.get(kind) ?? server.entries.get(kind) ?? []
    return new Set(entries.map(({ entry }) => kind.identityOf(entry)))
  }
  const providers = new Set(server.providerIds)
  const models = namesOf('ownedModels')
  const gates = namesOf('gates')
  const existingGates = new Set(
    [...server.entries].flatMap(([kind, entries]) =>
      kind.section === 'gates' ? entries.map(({ entry }) => kind.identityOf(entry)) : [],
    ),
  )
  return [...file.entries].flatMap(([kind, entries]) =>
    entries.flatMap(({ entry, place, lineOf }): YamlFault[] => {
      const { section } = kind
      const existing = server.entries.get(kind) ?? []
      const isUnchanged = existing.some((have) => isDeepStrictEqual(have.entry, entry))
      if (section === 'budgets' && entry.gateId === undefined) return []
      if (section === 'budgets' && !gates.has(String(entry.gateId))) {
        if (isUnchanged && !existingGates.has(String(entry.gateId))) return []
        return [
          {
            line: lineOf('gateId'),
            message: `${place}.gateId names no gate.${didYouMean(String(entry.gateId), gates)}`,
          },
        ]
      }
      if (section !== 'gates') return []
      return targetsOf(entry).flatMap(({ model }, index): YamlFault[] => {
        const target = String(model)
        const [provider = ''] = target.split('/')
        const isKnown =
          provider === OWNED ? models.has(target.slice(OWNED.length + 1)) : providers.has(provider)
        if (isKnown || (isUnchanged && provider !== OWNED)) return []
        const what =
          provider === OWNED
            ? `no owned model of this account.${didYouMean(target.slice(OWNED.length + 1), models)}`
            : `no provider of this server.${didYouMean(provider, providers)} List: gatehouse providers list`
        return [
          {
            line: lineOf('targets', index, 'model'),
            message: `${place}.targets[${index}].model names ${what}`,
          },
        ]
      })
    }),
  )
}

function toPlace(place: string, path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (before, step) => (typeof step === 'number' ? `${before}[${step}]` : `${before}.${step}`),
    place,
  )
}

/** Refuses keys, members and tags that an entry of the file names and that do not exist. */
function refuseUnknownCallers(file: ConfigurationFile, server: ServerState): YamlFault[] {
  const tagKind = KINDS.find(({ section }) => section === 'tags')
  const known = (tagKind && (file.entries.get(tagKind) ?? server.entries.get(tagKind))) ?? []
  const tagNames = new Set(known.map(({ entry }) => String(entry.name)))
  return [...file.entries].flatMap(([kind, entries]) =>
    entries.flatMap((want): YamlFault[] => {
      const { place, lineOf } = want
      const entry = server.people.toFile(kind, want.entry)
      const existing = server.entries.get(kind) ?? []
      if (existing.some((have) => isDeepStrictEqual(have.entry, entry))) return []
      const unknown = server.people.listUnknown(kind, entry).map(({ name, path }) => ({
        line: lineOf(...path),
        message:
          `${toPlace(place, path)} names no member of this account: '${name}'. List: ` +
          'gatehouse users list',
      }))
      const repeated = server.people.listRepeated(kind, entry).map(({ name, path }) => ({
        line: lineOf(...path),
        message: `${toPlace(place, path)} names a member again: '${name}'`,
      }))
      const refuseTag = (tag: unknown, ...path: readonly (string | number)[]): YamlFault[] => {
        const [tagName = ''] = String(tag).split(':')
        const message = `${toPlace(place, path)} names no tag.${didYouMean(tagName, tagNames)}`
        return tagNames.has(tagName) ? [] : [{ line: lineOf(...path), message }]
      }
      if (kind.section === 'budgets')
        return entry.tag === undefined ? [] : refuseTag(entry.tag, 'tag')
      if (kind.isOfExisting !== true) return [...unknown, ...repeated]
      const name = String(entry.name)
      const count = server.names.get(kind)?.get(name) ?? 0
      const one = kind.section === 'keys' ? 'key' : 'access token'
      const names = count === 0 ? `no ${one}` : `${count} ${one}s: give each another name`
      const tags = (entry.tags as readonly string[]).flatMap((tag, index) =>
        refuseTag(tag, 'tags', index),
      )
      return [
        ...(count === 1 ? [] : [{ line: lineOf('name'), message: `${place}.name names ${names}` }]),
        ...unknown,
        ...tags,
      ]
    }),
  )
}

/** The attribution settings when the budgets of the file are created. */
function settingsAfter(file: ConfigurationFile, server: ServerState): JsonObject {
  const kind = KINDS.find(({ section }) => section === 'attribution')
  if (kind === undefined) return {}
  return { ...server.entries.get(kind)?.[0]?.entry, ...file.entries.get(kind)?.[0]?.entry }
}

function refuseUnrecorded(
  { section }: Kind,
  { entry, place, lineOf }: FileEntry,
  settings: JsonObject,
): YamlFault[] {
  const unrecorded = section === 'budgets' ? findUnrecorded(entry, settings) : undefined
  if (unrecorded === undefined) return []
  const { field, who, switches } = unrecorded
  const message =
    `${place}.${field} would count no call, because the account does not record ${who}: switch on ` +
    switches.map((name) => `attribution.${name}`).join(' or ')
  return [{ line: lineOf(field), message }]
}

/**
 * Refuses what only a person who is signed in may change, before anything is changed.
 * @throws CliError naming the line
 */
export function assertKeyMayPush(
  file: ConfigurationFile,
  { people }: ServerState,
  changes: readonly Change[],
): void {
  const change = changes.find(({ kind }) => kind.section === 'attribution')
  if (!people.hasAny || change?.body.peopleFigures === undefined) return
  const { from, to } = change.fields.find(({ field }) => field === 'peopleFigures') ?? {}
  const message =
    `attribution.peopleFigures cannot become '${to}': an API key cannot change it in an account ` +
    'with members. The owner changes it in the dashboard, under Settings → Account. Or write ' +
    `peopleFigures: ${from}, or take the line out`
  const line = file.entries.get(change.kind)?.[0]?.lineOf('peopleFigures') ?? 1
  throw toFault(file.path, [{ line, message }])
}

/** Names of gates are unique over ids and aliases, and one gate is the catch-all. */
function refuseSharedNames(file: ConfigurationFile): YamlFault[] {
  const gates = [...file.entries].flatMap(([kind, entries]) =>
    kind.section === 'gates' ? entries : [],
  )
  const holders = new Map<string, FileEntry>()
  return gates.flatMap((gate) =>
    namesOfGate(gate.entry).flatMap((name): YamlFault[] => {
      const holder = holders.get(name)
      if (holder === undefined) holders.set(name, gate)
      return holder === undefined || holder === gate
        ? []
        : [{ line: gate.lineOf(), message: `${gate.place} shares ${name} with ${holder.place}` }]
    }),
  )
}

const OWNED = 'owned'

export interface Applied {
  readonly change: Change
  readonly status: 'done' | 'failed' | 'not done'
}

interface Outcome {
  readonly applied: readonly Applied[]
  readonly notes: readonly string[]
  readonly failure: unknown
}

export async function applyChanges(
  client: Client,
  changes: readonly Change[],
  credentials: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const people = await People.read(client)
  const applied: Applied[] = []
  const notes: string[] = []
  for (const [index, change] of changes.entries()) {
    try {
      const answer = await apply({ client, people }, change, credentials.get(change.name))
      applied.push({ change, status: 'done' })
      notes.push(...notesOf(change, answer, credentials))
    } catch (failure) {
      applied.push({ change, status: 'failed' })
      const rest = changes
        .slice(index + 1)
        .map((left): Applied => ({ change: left, status: 'not done' }))
      return { applied: [...applied, ...rest], notes, failure }
    }
  }
  return { applied, notes, failure: undefined }
}

async function apply(
  { client, people }: { readonly client: Client; readonly people: People },
  change: Change,
  credential: string | undefined,
): Promise<Saved> {
  const { action, kind, handle = '' } = change
  const body = people.toServer(kind, change.body)
  const operations = OPERATIONS[kind.section]
  /** The version that the plan was made for, because the person may have taken time to agree. */
  const versionOf = async () => {
    const now = await operations.read(client, handle)
    const entry = people.toFile(kind, toEntry(kind, now.body))
    if (isDeepStrictEqual(entry, change.before)) return now.version
    throw new CliError(
      'conflict',
      `Another user or program has changed the ${kind.label} ${change.name} in the meantime. Run the command again.`,
    )
  }
  switch (action) {
    case 'create':
      return await operations.create(client, body, credential)
    case 'update':
      return await operations.update(client, handle, { body, version: await versionOf() })
    case 'delete':
      try {
        await operations.remove(client, handle, await versionOf())
      } catch (error) {
        // Another client may have deleted the resource first, with the same result.
        if (!(error instanceof CliError && error.failure === 'notFound')) throw error
      }
      return {}
  }
}

/**
 * A webhook's generated secret is never printed, because many people may read the output of a push.
 */
function notesOf(
  { action, kind, name }: Change,
  { id, warnings = [] }: Saved,
  credentials: ReadonlyMap<string, string>,
): string[] {
  if (action === 'create' && kind.section === 'webhooks')
    return [
      `The webhook ${name} has a secret that nobody knows. Set one: gatehouse ` +
        `webhooks update ${id} --secret`,
    ]
  const isBare = action === 'create' && kind.section === 'ownedModels' && !credentials.has(name)
  const bare = isBare ? [`The ${kind.label} ${name} was created without a credential.`] : []
  const warned = warnings.map(({ message }) => `${kind.label} ${name}: ${message}`)
  return [...bare, ...warned]
}
