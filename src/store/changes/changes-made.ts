/** Detects whether some work has changed a resource that other nodes hold in memory. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { RESOURCE_ENTRIES } from '../../core/resource-table.ts'

/** The resources that nodes hold in memory, named as by `resourceOf`. */
const FOLLOWED: ReadonlySet<string> = new Set(
  RESOURCE_ENTRIES.flatMap(([word, { follow }]) => (follow === undefined ? [] : [word])),
)

const works = new AsyncLocalStorage<{ hasChanged: boolean }>()

/**
 * @returns the result of `work`, and whether `work` changed a resource that nodes hold in memory
 */
export async function watchChanges<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly hasChanged: boolean }> {
  const seen = { hasChanged: false }
  const result = await works.run(seen, work)
  return { result, hasChanged: seen.hasChanged }
}

/** A change that is rolled back later counts too; readers then refresh once too often. */
export function noteChangeOf(resource: string): void {
  const seen = works.getStore()
  if (seen !== undefined && FOLLOWED.has(resource)) seen.hasChanged = true
}
