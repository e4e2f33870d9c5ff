/** The order in which a batch's calls are committed. Must not know a table. */
import type { CallBatch } from '../../core/call-batch.ts'
import type { AccountId } from '../../core/ids.ts'

/** Examined between two yields: a tenth of a millisecond. */
const CALLS_PER_TURN = 2_048
/** Each id is searched for in its line: takes as long. */
const IDS_PER_TURN = 512

/**
 * For a file: sorted by account, because an account's calls share pages of the index and of the
 * sums. Calls of one account keep their order.
 * @param between awaited between two steps
 * @returns indexes of the batch
 */
export async function sortByAccount(
  batch: CallBatch,
  between: () => Promise<unknown>,
): Promise<readonly number[]> {
  const ofAccounts = new Map<AccountId, number[]>()
  for (let index = 0; index < batch.length; index += 1) {
    const accountId = batch.accountOf(index)
    const own = ofAccounts.get(accountId)
    if (own === undefined) ofAccounts.set(accountId, [index])
    else own.push(index)
    if (index % CALLS_PER_TURN === CALLS_PER_TURN - 1) await between()
  }
  const sorted: number[] = []
  for (const accountId of await sortInTurns([...ofAccounts.keys()], between))
    for (const index of ofAccounts.get(accountId) ?? []) sorted.push(index)
  return sorted
}

/**
 * For a server: two nodes that store the same calls in one order wait for each other; in two orders
 * they would deadlock.
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
  // Nearly sorted already, because ids begin with the time.
  const order = Array.from(ids.keys()).sort((one, other) => (idAt(one) < idAt(other) ? -1 : 1))
  return order.map((index) => places[index] ?? 0)
}

// Sorts texts in parts: ten thousand at once block the event loop for milliseconds.

const TEXTS_PER_PART = 512

/** By code units. @param between awaited after each part and each merge */
export async function sortInTurns<Text extends string>(
  texts: readonly Text[],
  between: () => Promise<unknown>,
): Promise<readonly Text[]> {
  let parts: (readonly Text[])[] = []
  for (let start = 0; start < texts.length; start += TEXTS_PER_PART) {
    parts.push(texts.slice(start, start + TEXTS_PER_PART).sort())
    await between()
  }
  while (parts.length > 1) {
    const joined: (readonly Text[])[] = []
    for (let index = 0; index < parts.length; index += 2) {
      joined.push(join(parts[index] ?? [], parts[index + 1] ?? []))
      await between()
    }
    parts = joined
  }
  return parts[0] ?? []
}

function join<Text extends string>(left: readonly Text[], right: readonly Text[]): readonly Text[] {
  const joined: Text[] = []
  let [fromLeft, fromRight] = [0, 0]
  for (;;) {
    const [one, other] = [left[fromLeft], right[fromRight]]
    if (one === undefined) return joined.concat(right.slice(fromRight))
    if (other === undefined) return joined.concat(left.slice(fromLeft))
    if (one <= other) {
      joined.push(one)
      fromLeft += 1
    } else {
      joined.push(other)
      fromRight += 1
    }
  }
}
