/**
 * Detects whether some work has changed anything that other nodes hold in memory. Must not know
 * what, nor the nodes.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { RESOURCE_ENTRIES } from '../../core/resource-table.ts'

/** The resources that nodes hold in memory, named as by `resourceOf`. */
const FOLLOWED: ReadonlySet<string> = new Set(
  RESOURCE_ENTRIES.flatMap(([word, { follow }]) => (follow === undefined ? [] : [word])),
)

const works = new AsyncLocalStorage<{ hasChanged: boolean }>()

/**
 * @returns the result of `work`, and whether anything that others follow was changed within it, at
 * any depth
 */
export async function watchChanges<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly hasChanged: boolean }> {
  const seen = { hasChanged: false }
  const result = await works.run(seen, work)
  return { result, hasChanged: seen.hasChanged }
}

/** Also called for a change that is rolled back later; readers then refresh once too often. */
export function noteChangeOf(resource: string): void {
  const seen = works.getStore()
  if (seen !== undefined && FOLLOWED.has(resource)) seen.hasChanged = true
}
