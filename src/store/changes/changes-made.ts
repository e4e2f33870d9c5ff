import { AsyncLocalStorage } from 'node:async_hooks'
import { RESOURCE_ENTRIES } from '../../core/resource-table.ts'

const FOLLOWED: ReadonlySet<string> = new Set(
  RESOURCE_ENTRIES.flatMap(([word, { follow }]) => (follow === undefined ? [] : [word])),
)

const works = new AsyncLocalStorage<{ hasChanged: boolean }>()

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
