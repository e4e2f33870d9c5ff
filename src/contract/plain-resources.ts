/**
 * Lists the plain resources, and how to load the description of each: its schemas take time. Knows
 * none of them.
 */
import type { PlainDescription } from './resource-description.ts'

interface PlainResource<Place extends string> {
  /** The first word of its paths behind `/v1/` and of its commands; its section of a file in git. */
  readonly place: Place
  readonly load: () => Promise<PlainDescription>
}

/** By the word that the audit log calls one by. */
export const PLAIN_RESOURCES = {
  tag: { place: 'tags', load: async () => (await import('./tags.ts')).tagResource },
} as const satisfies Readonly<Record<string, PlainResource<string>>>

export type PlainPlace = (typeof PLAIN_RESOURCES)[keyof typeof PLAIN_RESOURCES]['place']

export const PLAIN_PLACES = Object.entries<PlainResource<PlainPlace>>(PLAIN_RESOURCES)
