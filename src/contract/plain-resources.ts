/**
 * Plain resources, stored as the customer sent them. A resource's routes, OpenAPI examples,
 * commands, configuration section and dashboard page are derived from its description. Loads no
 * zod, because the command line and the dashboard read descriptions too.
 */

export interface PlainField {
  readonly about: string
  readonly max: number
  readonly form?: { readonly pattern: RegExp; readonly problem: string }
  readonly example?: string
  readonly help?: string
  readonly hint?: string
}

/** A list of members, stored by id. Absent at creation: empty. */
export interface PlainList {
  readonly about: string
  readonly most: number
  readonly each: { readonly max: number }
  readonly help: string
  readonly hint: string
  readonly example?: readonly string[]
}

type ExampleBody = Readonly<Record<string, string | readonly string[]>>

export interface PlainResource {
  /** Used in operation ids: `createTag`, `listTags`. */
  readonly name: string
  readonly names: string
  readonly one: string
  readonly many: string
  /** First word of the paths after `/v1/` and of the commands; also the configuration section. */
  readonly place: string
  readonly description: string
  readonly about: string
  readonly purpose: string
  readonly deletion: string
  readonly update: string
  readonly fields: Readonly<Record<string, PlainField>>
  readonly lists?: Readonly<Record<string, PlainList>>
  readonly namedBy: string
  readonly examples: {
    readonly id: string
    readonly create: Readonly<Record<string, ExampleBody>>
    readonly update: Readonly<Record<string, ExampleBody>>
  }
}

/** The plain resources, keyed by their type in the audit log. */
export const PLAIN_RESOURCES = {
  tag: {
    name: 'Tag',
    names: 'Tags',
    one: 'tag',
    many: 'tags',
    place: 'tags',
    description: 'A tag is a label for calls: a team, a customer, a repository.',
    about: 'labels for calls: teams, repositories, customers',
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
    lists: {
      members: {
        about:
          'Members by id, name or e-mail address; answers have the ids. Their calls bear the tag ' +
          'from now on, so a tag with members is a team.',
        most: 1_000,
        each: { max: 255 },
        hint: 'Calls that count for these members bear the tag from now on: a tag with members is a team.',
        help: 'member whose calls bear the tag: id, name or e-mail address; repeat the option for more; none: nobody',
        example: ['user_01a1fbc63aa470d6877cf556d6121edd'],
      },
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
