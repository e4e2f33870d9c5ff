import type { CallBatch } from '../../core/call-batch.ts'
import type { AccountId } from '../../core/ids.ts'

const CALLS_PER_TURN = 2_048
const IDS_PER_TURN = 512

/**
 * Sorts a batch by account, because an account's calls share pages of the index and the sums. Calls
 * of one account keep their order.
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
 * Sorts the calls of a commit by id, so that two nodes that store the same calls cannot deadlock.
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
  const order = Array.from(ids.keys()).sort((one, other) => (idAt(one) < idAt(other) ? -1 : 1))
  return order.map((index) => places[index] ?? 0)
}

// Sorting ten thousand texts at once blocks the event loop for milliseconds, so texts are sorted in
// parts.

const TEXTS_PER_PART = 512

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
