/** The version of a resource as an entity tag: equal for equal contents. */
import { hash } from 'node:crypto'
import type { PublicForm } from './audit.ts'
import { RESOURCE_ENTRIES, type ResourceWord } from './resource-table.ts'

/** 132 bits, so two versions never share a tag by chance. */
const TAG_CHARACTERS = 22

/**
 * @param form the public form, or an answer that contains it: computed members such as counts are
 * ignored
 */
export function toVersionTag(word: ResourceWord, form: PublicForm): string {
  const passedOver = UNVERSIONED.get(word)
  const versioned = Object.entries(form).filter(([member]) => passedOver?.includes(member) !== true)
  const text = JSON.stringify(toSorted(Object.fromEntries(versioned)))
  return `"${hash('sha256', text, 'base64url').slice(0, TAG_CHARACTERS)}"`
}

const UNVERSIONED: ReadonlyMap<string, readonly string[] | undefined> = new Map(
  RESOURCE_ENTRIES.map(([word, { unversioned }]) => [word, unversioned]),
)

/** Two nodes may list members in different orders. */
function toSorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([member, inner]) => [member, toSorted(inner)]),
  )
}
