/** Reads the sums of a range where a test does not ask which range that became. */
import type { AccountId } from '../../core/ids.ts'
import type { UsageStore } from './usage.ts'
import type { UsageQuery } from './usage-query.ts'
import type { UsageSum } from './usage-sum.ts'

export async function readSums(
  usage: Pick<UsageStore, 'readRange'>,
  accountId: AccountId,
  query: UsageQuery,
): Promise<UsageSum[]> {
  return (await usage.readRange(accountId, query)).sums
}
