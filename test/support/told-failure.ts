/**
 * What a client of a stream is told when it breaks. A client that a busy machine keeps from reading
 * may find the connection closed before it has seen what was said last: such a call says nothing,
 * and is made again. Must not import anything from src/.
 */

const TRIES = 20

/** @returns what `read` threw, or undefined where it took the stream for a whole one */
export async function toldFailure(read: () => Promise<unknown>): Promise<unknown> {
  let failure: unknown
  for (let tried = 0; tried < TRIES; tried += 1) {
    failure = await read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!isCut(failure)) break
  }
  return failure
}

function isCut(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === 'ECONNRESET'
}
