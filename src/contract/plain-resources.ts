/**
 * Plain resources, stored as the customer sent them. Each has one description, from which its
 * routes, OpenAPI examples, commands, configuration section and dashboard page are derived. Loads
 * no zod, because the command line and the dashboard read these too.
 */

/** A member that the customer sets. All of them are text. */
export interface PlainField {
  /** Purpose, in the OpenAPI document. */
  readonly about: string
  readonly max: number
  /** The required form, and the refusal's words; undefined: any text, including empty. */
  readonly form?: { readonly pattern: RegExp; readonly problem: string }
  readonly example?: string
  /** Help of its command-line option. */
  readonly help?: string
  /** Note below its field in the dashboard. */
  readonly hint?: string
}

export interface PlainResource {
  /** Used in operation ids: `createTag`, `listTags`. */
  readonly name: string
  readonly names: string
  /** For people: `tag`, `tags`. */
  readonly one: string
  readonly many: string
  /** First word of its paths after `/v1/` and of its commands; also its configuration section. */
  readonly place: string
  /** `A label of the account.` */
  readonly description: string
  /** `labels of the account`. */
  readonly about: string
  /** Shown while there are none. */
  readonly purpose: string
  /** Shown before one is deleted. */
  readonly deletion: string
  /** Summary of its update in the OpenAPI document. */
  readonly update: string
  /** In the order of its answers and forms. */
  readonly fields: Readonly<Record<string, PlainField>>
  /** The field that is unique in an account, and the argument of its commands. */
  readonly namedBy: string
  /** Bodies by title, which run against a server with the sandbox. */
  readonly examples: {
    readonly id: string
    readonly create: Readonly<Record<string, Readonly<Record<string, string>>>>
    readonly update: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

/** By the word that the audit log uses. */
export const PLAIN_RESOURCES = {
  tag: {
    name: 'Tag',
    names: 'Tags',
    one: 'tag',
    many: 'tags',
    place: 'tags',
    description: 'A label of the account.',
    about: 'labels of the account',
    purpose: "A tag is the account's name for a team, a customer or a place.",
    deletion: 'A tag created later with the same name is a different tag.',
    update: 'Rename a tag, or describe it',
    fields: {
      name: {
        about: 'Unique among the tags of an account.',
        max: 64,
        form: {
          pattern: /^[A-Za-z0-9._-]{1,64}$/,
          problem: 'must be 1 to 64 letters, digits, hyphens, underscores and dots',
        },
        example: 'production',
        hint: 'Letters, digits, hyphens, underscores and dots.',
      },
      description: { about: 'Its purpose.', max: 500, help: 'what it is for' },
    },
    namedBy: 'name',
    examples: {
      id: 'tag_01a1fbc63aa470d6877cf556d6121edd',
      create: { 'A tag': { name: 'production', description: 'What customers see' } },
      update: { 'Another name': { name: 'live' } },
    },
  },
} as const satisfies Readonly<Record<string, PlainResource>>

export type PlainPlace = (typeof PLAIN_RESOURCES)[keyof typeof PLAIN_RESOURCES]['place']

export const PLAIN_PLACES = Object.entries<PlainResource & { readonly place: PlainPlace }>(
  PLAIN_RESOURCES,
)
