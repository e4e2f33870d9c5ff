/**
 * Plain kinds of resources: stored as the customer sent them, without secrets, counting, or a role
 * in calls. Plain kinds need no store, registry or routes of their own.
 */
import type { Kysely } from 'kysely'
import type { PublicForm } from '../../core/audit.ts'
import type { AccountId } from '../../core/ids.ts'
import type { AccountCaps } from '../../core/plan.ts'
import { RESOURCE_TABLE } from '../../core/resource-table.ts'
import type { NamedThing } from '../database/find-some.ts'
import type { Schema } from '../schema.ts'
import { ResourceStore, type StoredKind, type StoredWord } from './resource-store.ts'

export interface PlainThing {
  readonly accountId: AccountId
  readonly id: string
  readonly createdAt: number
}

export interface PlainStore<Thing extends PlainThing> {
  loadAll(): Promise<readonly Thing[]>
  findSome(things: readonly NamedThing[]): Promise<readonly (Thing | undefined)[]>
  insert(thing: Thing): Promise<boolean>
  change(
    name: NamedThing,
    change: (previous: Thing) => Thing,
  ): Promise<{ readonly changed: Thing } | undefined>
  delete(accountId: AccountId, id: string): Promise<boolean>
}

export interface PlainKind<Thing extends PlainThing> {
  readonly word: StoredWord
  readonly table: keyof Schema
  readonly idPrefix: string
  toPublic(thing: Thing): PublicForm
  openStore(database: Kysely<Schema>, caps: AccountCaps): PlainStore<Thing>
}

function definePlainKind<Word extends StoredWord, Thing extends PlainThing>(
  kind: Omit<StoredKind<Word, Thing, Thing>, 'idColumn' | 'nameOf' | 'mayClash'> & {
    readonly idPrefix: string
    readonly idColumn: StoredKind<Word, Thing, Thing>['idColumn']
  },
): PlainKind<Thing> {
  const stored = {
    ...kind,
    mayClash: kind.uniqueColumn !== undefined,
    nameOf: (thing: Thing) => thing,
  }
  return {
    word: kind.word,
    table: RESOURCE_TABLE[kind.word].cap.table,
    idPrefix: kind.idPrefix,
    toPublic: kind.toPublic,
    openStore: (database, caps) => new ResourceStore(database, stored, caps),
  }
}

interface Tag extends PlainThing {
  readonly name: string
  readonly description: string
  /** Ids of users. Their calls bear the tag. */
  readonly members: readonly string[]
}

function toStoredMembers(members: readonly string[]): string | null {
  return members.length === 0 ? null : JSON.stringify(members)
}

export const PLAIN_KINDS = {
  tag: definePlainKind<'tag', Tag>({
    word: 'tag',
    idPrefix: 'tag',
    idColumn: 'id',
    uniqueColumn: 'name',
    toRow: ({ accountId, id, name, description, members, createdAt }) => ({
      id,
      account_id: accountId,
      name,
      description,
      members: toStoredMembers(members),
      created_at: createdAt,
    }),
    toChanges: ({ name, description, members }) => ({
      name,
      description,
      members: toStoredMembers(members),
    }),
    createReader: () => (row) => ({
      accountId: row.account_id,
      id: row.id,
      name: row.name,
      description: row.description,
      members: row.members === null ? [] : (JSON.parse(row.members) as string[]),
      createdAt: row.created_at,
    }),
    toPublic: ({ id, name, description, members, createdAt }) => ({
      id,
      name,
      description,
      members: [...members],
      createdAt: new Date(createdAt).toISOString(),
    }),
  }),
} as const satisfies Readonly<Record<string, PlainKind<PlainThing>>>

export type PlainWord = keyof typeof PLAIN_KINDS

export type ThingOf<Word extends PlainWord> =
  (typeof PLAIN_KINDS)[Word] extends PlainKind<infer Thing> ? Thing : never

export type PlainStores = { readonly [Word in PlainWord]: PlainStore<ThingOf<Word>> }

export const PLAIN_ENTRIES = Object.entries<PlainKind<PlainThing>>(PLAIN_KINDS)

export function openPlainStores(database: Kysely<Schema>, caps: AccountCaps): PlainStores {
  const stores = PLAIN_ENTRIES.map(([word, kind]) => [word, kind.openStore(database, caps)])
  return Object.fromEntries(stores)
}
