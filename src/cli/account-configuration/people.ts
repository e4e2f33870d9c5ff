/**
 * Members in a file: by e-mail address, because ids differ between gateways. A file may give the id
 * instead, and a member who has left the account has only an id.
 */
import type { Client, JsonObject } from '../client.ts'
import type { Kind } from './kinds.ts'

const MOST_MEMBERS = 100_000
/** A list of a tag takes no longer text. */
const MOST_CHARACTERS = 100

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
      if (email.length <= MOST_CHARACTERS) people.#emails.set(id, email)
    }
    return people
  }

  /** With e-mail addresses instead of ids, in the spelling of the server. */
  toFile(kind: Kind, entry: JsonObject): JsonObject {
    return this.#withPeople(kind, entry, (name) => {
      const id = this.#ids.get(name.toLowerCase()) ?? name
      return this.#emails.get(id) ?? id
    })
  }

  /** With ids instead of e-mail addresses. */
  toServer(kind: Kind, entry: JsonObject): JsonObject {
    return this.#withPeople(kind, entry, (name) => this.#ids.get(name.toLowerCase()) ?? name)
  }

  listUnknown(kind: Kind, entry: JsonObject): readonly NamedPerson[] {
    const known = new Set(this.#ids.values())
    const member = PEOPLE_IN[kind.section]
    const value = member === undefined ? undefined : entry[member]
    const named: readonly NamedPerson[] = Array.isArray(value)
      ? value.map((name, index) => ({ name: String(name), path: [member ?? '', index] }))
      : typeof value === 'string'
        ? [{ name: value, path: [member ?? ''] }]
        : []
    return named.filter(({ name }) => !known.has(this.#ids.get(name.toLowerCase()) ?? name))
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
