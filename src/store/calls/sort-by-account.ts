/**
 * The order in which a batch's calls go into a file: neighbours share pages of the index, which
 * begins with the account. Must not know a table.
 */
import type { CallRecord } from '../../core/call.ts'
import { sortInTurns } from '../usage/usage-batches.ts'

/**
 * Account after account, each one's calls as they came. The batch's first call stays the first: a
 * segment of the journal of which that is not stored was not begun.
 * @param between awaited between two steps
 */
export async function sortByAccount(
  records: readonly CallRecord[],
  between: () => Promise<unknown>,
): Promise<readonly CallRecord[]> {
  const [first, ...others] = records
  if (first === undefined) return []
  const ofAccounts = Map.groupBy(others, ({ accountId }) => accountId)
  if (ofAccounts.size === 1) return records
  const sorted = [first]
  for (const accountId of await sortInTurns([...ofAccounts.keys()], between))
    sorted.push(...(ofAccounts.get(accountId) ?? []))
  return sorted
}
