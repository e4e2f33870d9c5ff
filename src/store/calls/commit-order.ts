/** The order in which a batch's calls are committed. Must not know a table. */
import type { CallBatch } from '../../core/call-batch.ts'
import type { AccountId } from '../../core/ids.ts'
import { sortInTurns } from '../usage/usage-batches.ts'

/** Looked at before others get their turn: a tenth of a millisecond. */
const CALLS_PER_TURN = 2_048
/** Each is looked for in its line: as long. */
const IDS_PER_TURN = 512

/**
 * For a file: account after account, each one's calls as they came, because neighbours share pages of
 * the index, which begins with the account. The batch's first call stays the first: a
 * segment of the journal of which that is not stored was not begun.
 * @param between awaited between two steps
 * @returns indexes of the batch
 */
export async function sortByAccount(
  batch: CallBatch,
  between: () => Promise<unknown>,
): Promise<readonly number[]> {
  if (batch.length === 0) return []
  const ofAccounts = new Map<AccountId, number[]>()
  for (let index = 1; index < batch.length; index += 1) {
    const accountId = batch.accountOf(index)
    const own = ofAccounts.get(accountId)
    if (own === undefined) ofAccounts.set(accountId, [index])
    else own.push(index)
    if (index % CALLS_PER_TURN === 0) await between()
  }
  const sorted = [0]
  for (const accountId of await sortInTurns([...ofAccounts.keys()], between))
    for (const index of ofAccounts.get(accountId) ?? []) sorted.push(index)
  return sorted
}

/**
 * For a server: two nodes that store the same calls in one order wait for each other; in two orders
 * neither would ever go on.
 * @param places of one commit, indexes of the batch
 * @returns the same, in the order of their calls' ids
 */
export async function sortById(
  batch: CallBatch,
  places: readonly number[],
  between: () => Promise<unknown>,
): Promise<readonly number[]> {
  const ids: string[] = []
  for (const place of places) {
    ids.push(batch.idOf(place))
    if (ids.length % IDS_PER_TURN === 0) await between()
  }
  await between()
  const idAt = (index: number) => ids[index] ?? ''
  // Nearly sorted, for ids begin with the time.
  const order = Array.from(ids.keys()).sort((one, other) => (idAt(one) < idAt(other) ? -1 : 1))
  return order.map((index) => places[index] ?? 0)
}
