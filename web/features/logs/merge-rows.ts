/** Joins pages of the log with calls that ended since: newest first, each once. Pure. */
import type { Log } from './log-filter.ts'

/**
 * @param loaded newest first, as the pages came
 * @param fresh newest first; may hold calls that are in `loaded` too
 * @param isWhole nothing older than the last of `loaded` is still to come
 */
export function mergeRows(
  loaded: readonly Log[],
  fresh: readonly Log[],
  isWhole: boolean,
): readonly Log[] {
  if (fresh.length === 0) return loaded
  const rows: Log[] = []
  let next = 0
  for (const row of loaded) {
    for (let early = fresh[next]; early !== undefined && isNewer(early, row); early = fresh[next]) {
      rows.push(early)
      next += 1
    }
    if (fresh[next]?.id === row.id) next += 1
    rows.push(row)
  }
  // Older pages will bring it where some are still to come.
  if (isWhole) rows.push(...fresh.slice(next))
  return rows
}

/** The calls of `found` that are not known yet. @param known newest first */
export function findFresh(known: readonly Log[], found: readonly Log[]): readonly Log[] {
  const oldest = found.at(-1)
  if (oldest === undefined) return []
  const ids = new Set<string>()
  for (const row of known) {
    if (isNewer(oldest, row)) break
    ids.add(row.id)
  }
  return found.filter(({ id }) => !ids.has(id))
}

/** In the order of the log: by beginning, and calls of one millisecond by their ids. */
function isNewer(one: Log, other: Log): boolean {
  return one.startedAt === other.startedAt ? one.id > other.id : one.startedAt > other.startedAt
}
