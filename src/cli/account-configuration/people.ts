/**
 * Members in a file: by e-mail address, because ids differ between gateways. A file may give the id
 * instead, and a member who has left the account has only an id.
 */
import type { Client, JsonObject } from '../client.ts'
import type { Kind } from './kinds.ts'

const MOST_MEMBERS = 100_000

/** The member of an entry that names people. */
const PEOPLE_IN: Partial<Record<Kind['section'], string>> = { keys: 'user', tags: 'members' }

interface NamedPerson {
  readonly name: string
  /** In the entry, for the line of a fault. */
  readonly path: readonly (string | number)[]
}

export class People {
  readonly #emails = new Map<string, string>()
  readonly #ids = new Map<string, string>()

  static async read(client: Client): Promise<People> {
    const people = new People()
    const { rows } = await client.listAll('GET /v1/members', MOST_MEMBERS)
    for (const { id, email } of rows) {
      people.#ids.set(email.toLowerCase(), id)
      people.#emails.set(id, email)
    }
    return people
  }

  get hasAny(): boolean {
    return this.#ids.size > 0
  }

  /** With e-mail addresses instead of ids, in the spelling of the server. */
  toFile(kind: Kind, entry: JsonObject): JsonObject {
    return this.#withPeople(kind, entry, (name) => {
      const id = this.#idOf(name)
      return this.#emails.get(id) ?? id
    })
  }

  /** With ids instead of e-mail addresses. */
  toServer(kind: Kind, entry: JsonObject): JsonObject {
    return this.#withPeople(kind, entry, (name) => this.#idOf(name))
  }

  listUnknown(kind: Kind, entry: JsonObject): readonly NamedPerson[] {
    const known = new Set(this.#ids.values())
    return listPeople(kind, entry).filter(({ name }) => !known.has(this.#idOf(name)))
  }

  /** People whom the entry names again, by another text. */
  listRepeated(kind: Kind, entry: JsonObject): readonly NamedPerson[] {
    const people = listPeople(kind, entry)
    const ids = people.map(({ name }) => this.#idOf(name))
    return people.filter((_, index) => ids.indexOf(ids[index] ?? '') < index)
  }

  #idOf(name: string): string {
    return this.#ids.get(name.toLowerCase()) ?? name
  }

  #withPeople(kind: Kind, entry: JsonObject, change: (name: string) => string): JsonObject {
    const member = PEOPLE_IN[kind.section]
    const value = member === undefined ? undefined : entry[member]
    if (member === undefined || value == null) return entry
    const changed = Array.isArray(value)
      ? value.map((name) => change(String(name)))
      : change(String(value))
    return { ...entry, [member]: changed }
  }
}

function listPeople({ section }: Kind, entry: JsonObject): readonly NamedPerson[] {
  const member = PEOPLE_IN[section]
  const value = member === undefined ? undefined : entry[member]
  if (member === undefined) return []
  if (typeof value === 'string') return [{ name: value, path: [member] }]
  if (!Array.isArray(value)) return []
  return value.map((name, index) => ({ name: String(name), path: [member, index] }))
}
