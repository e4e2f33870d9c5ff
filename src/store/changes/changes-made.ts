/**
 * Notes whether a piece of work has changed anything that other nodes hold in memory. Must not know
 * what, nor who the nodes are.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { RESOURCE_ENTRIES } from '../../core/resource-table.ts'

/** The resources that nodes hold in memory, as `resourceOf` an audited action names it. */
const FOLLOWED: ReadonlySet<string> = new Set(
  RESOURCE_ENTRIES.flatMap(([word, { follow }]) => (follow === undefined ? [] : [word])),
)

const works = new AsyncLocalStorage<{ hasChanged: boolean }>()

/**
 * @returns what `work` gave, and whether anything that others follow was changed within it, however
 * deep inside
 */
export async function watchChanges<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly hasChanged: boolean }> {
  const seen = { hasChanged: false }
  const result = await works.run(seen, work)
  return { result, hasChanged: seen.hasChanged }
}

/** Also of a change that is rolled back after all: its readers then ask once too often. */
export function noteChangeOf(resource: string): void {
  const seen = works.getStore()
  if (seen !== undefined && FOLLOWED.has(resource)) seen.hasChanged = true
}
