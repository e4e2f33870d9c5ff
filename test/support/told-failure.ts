/**
 * The failure that a client of a stream receives. A client on a busy machine may find the
 * connection closed before reading the failure, so such a call is repeated.
 */

const TRIES = 20

/** @returns what `read` threw; undefined when `read` accepted the stream as whole */
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
