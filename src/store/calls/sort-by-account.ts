/**
 * The order in which a batch's calls go into a file: neighbours share pages of the index, which
 * begins with the account. Must not know a table.
 */
import type { CallBatch } from '../../core/call-batch.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { sortInTurns } from '../usage/usage-batches.ts'

/** Looked at before others get their turn: a tenth of a millisecond. */
const CALLS_PER_TURN = 2_048

/**
 * Account after account, each one's calls as they came. The batch's first call stays the first: a
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
 * Two nodes that store the same calls in one order wait for each other; in two orders neither would
 * ever go on.
 * @param places of one commit, indexes of the batch: sorted in place
 */
export async function sortById(
  batch: CallBatch,
  places: number[],
  between: () => Promise<unknown>,
): Promise<void> {
  const ids = new Map<number, CallId>()
  for (const place of places) {
    ids.set(place, batch.idOf(place))
    if (ids.size % CALLS_PER_TURN === 0) await between()
  }
  await between()
  const idOf = (place: number) => ids.get(place) ?? ''
  // Nearly sorted, for ids begin with the time.
  places.sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
}
