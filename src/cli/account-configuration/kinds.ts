import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { createTokenBody } from '../../contract/access-tokens.ts'
import {
  type ConfigurationSection,
  configurationEntries,
  ofPlainSections,
} from '../../contract/account-configuration.ts'
import type { Schemas } from '../../contract/api.generated.ts'
import { scopeTypeOf } from '../../contract/budget-scope.ts'
import { DEFAULT_REFUSE_AT } from '../../core/budget.ts'
import type { JsonObject } from '../client.ts'

export interface Kind {
  readonly section: ConfigurationSection
  readonly label: string
  readonly creationSchema: keyof Schemas
  readonly withheld: readonly string[]
  readonly schema: z.ZodType
  readonly members: Readonly<Record<string, z.ZodType>>
  readonly changeable: ReadonlySet<string>
  /**
   * Members that a file names even with their default value, because that default has changed. A
   * file without them leaves the resource's value as it is.
   */
  readonly alwaysWritten?: readonly string[]
  readonly handle: string
  /** The member that must be unique. Absent when two entries may be equal. */
  readonly namedBy?: string
  /** The file has one entry instead of a list. */
  readonly isSingle?: true
  /** An entry adds to a resource that exists. A deletion removes what an entry adds. */
  readonly isOfExisting?: boolean
  isKept(row: JsonObject): boolean
  /** The text that identifies an entry's resource, though other members differ. */
  identityOf(entry: JsonObject): string
  complete(entry: JsonObject): JsonObject
}

function kind(
  section: ConfigurationSection,
  rest: Omit<Kind, 'section' | 'schema' | 'members' | 'changeable'>,
): Kind {
  const { schema, members, changeable } = configurationEntries[section]
  return { section, schema, members, changeable: new Set(changeable), ...rest }
}

const OF_EXISTING = {
  ...{ handle: 'id', namedBy: 'name', isOfExisting: true },
  identityOf: ({ name }: JsonObject) => String(name),
} as const
const TOKEN_RULES = Object.keys(createTokenBody.shape).filter(
  (member) => member !== 'name' && member !== 'tags',
)

/**
 * In the order of creation: gates refer to owned models, budgets to gates and tags, and keys to
 * tags.
 */
export const KINDS: readonly Kind[] = [
  kind('ownedModels', {
    label: 'owned model',
    creationSchema: 'CreateOwnedModel',
    withheld: ['credential'],
    handle: 'slug',
    namedBy: 'slug',
    isKept: () => true,
    identityOf: ({ slug }) => String(slug),
    complete: (entry) => ({
      ...entry,
      displayName: entry.displayName ?? entry.slug,
      pricingCachedInput: entry.pricingCachedInput ?? entry.pricingInput,
    }),
  }),
  kind('gates', {
    label: 'gate',
    creationSchema: 'CreateGate',
    withheld: [],
    handle: 'id',
    namedBy: 'id',
    isKept: () => true,
    identityOf: ({ id }) => String(id),
    complete: (entry) => ({
      ...entry,
      displayName: entry.displayName ?? entry.id,
      targets: targetsOf(entry).map(withoutUsualWeight),
    }),
  }),
  ...Object.values(
    ofPlainSections(({ name, one, namedBy, place }) =>
      kind(place, {
        label: one,
        // The OpenAPI document forms the names of creation schemas in the same way.
        creationSchema: `Create${name}` as keyof Schemas,
        withheld: [],
        handle: 'id',
        namedBy,
        isKept: () => true,
        identityOf: (entry) => String(entry[namedBy]),
        complete: (entry) => entry,
      }),
    ),
  ),
  kind('attribution', {
    label: 'attribution settings',
    creationSchema: 'UpdateAttribution',
    withheld: [],
    alwaysWritten: ['membersAndTags', 'sessions', 'endUsers', 'peopleFigures'],
    handle: '',
    isSingle: true,
    isKept: () => true,
    identityOf: () => 'of the account',
    complete: (entry) => entry,
  }),
  kind('keys', {
    label: 'user and tags of the key',
    creationSchema: 'UpdateApiKey',
    withheld: ['expiresAt'],
    ...OF_EXISTING,
    isKept: ({ user, tags }) => user !== null || !isEmpty(tags),
    complete: (entry) => ({ ...entry, user: entry.user ?? null, tags: entry.tags ?? [] }),
  }),
  kind('accessTokens', {
    label: 'tags of the access token',
    creationSchema: 'UpdateAccessToken',
    withheld: TOKEN_RULES,
    ...OF_EXISTING,
    isKept: ({ tags }) => !isEmpty(tags),
    complete: (entry) => ({ ...entry, tags: entry.tags ?? [] }),
  }),
  kind('budgets', {
    label: 'budget',
    creationSchema: 'CreateBudget',
    withheld: ['keyId', 'member'],
    alwaysWritten: ['unpriced'],
    handle: 'id',
    isKept: ({ keyId, member }) => typeof (keyId ?? member) !== 'string',
    identityOf: ({ gateId, tag, endUser, scope, period, limitUsd }) =>
      `${gateId ?? [scope, tag ?? endUser ?? ''].join(' ').trim()}, ` +
      `${limitUsd === undefined ? 'tokens' : 'US dollars'}, ${period}`,
    complete: (entry) => {
      const scope = scopeTypeOf(entry)
      const name = entry.name ?? entry.gateId ?? entry.tag ?? entry.endUser ?? scope
      return { ...entry, scope, name, refuseAt: wallOf(entry) }
    },
  }),
  kind('webhooks', {
    label: 'webhook',
    creationSchema: 'CreateWebhook',
    withheld: ['secret'],
    handle: 'id',
    isKept: () => true,
    identityOf: ({ url }) => String(url),
    complete: (entry) => ({ ...entry, events: (entry.events as readonly string[]).toSorted() }),
  }),
]

function isEmpty(list: unknown): boolean {
  return (list as readonly unknown[]).length === 0
}

export function targetsOf(gate: JsonObject): readonly JsonObject[] {
  return gate.targets as readonly JsonObject[]
}

function withoutUsualWeight({ weight, ...target }: JsonObject): JsonObject {
  return weight === undefined || weight === 1 ? target : { ...target, weight }
}

/** The share at which a budget refuses, as the server completes it. */
function wallOf({ atLimit, refuseAt }: JsonObject): unknown {
  return atLimit === 'refuse' ? null : (refuseAt ?? DEFAULT_REFUSE_AT)
}

/**
 * All members of an entry with defaults, in the contract's order.
 * @throws z.ZodError
 */
export function toComplete(kind: Kind, entry: unknown): JsonObject {
  const completed = kind.complete(kind.schema.parse(entry) as JsonObject)
  const present = Object.keys(kind.members).filter((member) => completed[member] !== undefined)
  return Object.fromEntries(present.map((member) => [member, completed[member]]))
}

export function toCompact(kind: Kind, complete: JsonObject): JsonObject {
  let compact = complete
  const keep = (shorter: JsonObject) => {
    const isSame =
      kind.schema.safeParse(shorter).success &&
      isDeepStrictEqual(toComplete(kind, shorter), complete)
    if (isSame) compact = shorter
    return isSame
  }
  for (const [member, value] of Object.entries(complete)) {
    if (kind.alwaysWritten?.includes(member) === true) continue
    if (keep(without(compact, member)) || !isPlainObject(value)) continue
    for (const inner of Object.keys(value))
      keep({ ...compact, [member]: without(compact[member] as JsonObject, inner) })
  }
  return compact
}

function without(object: JsonObject, member: string): JsonObject {
  const { [member]: _, ...rest } = object
  return rest
}

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sorted by identity, then by all members, so that the order is always the same. */
export function inOrder(kind: Kind, entries: readonly JsonObject[]): JsonObject[] {
  const rank = (entry: JsonObject) => `${kind.identityOf(entry)}\u0000${JSON.stringify(entry)}`
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ entry }) => entry)
}
