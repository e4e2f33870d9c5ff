/** Files that are sent as they are read, to readers who may take hours. */
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { StreamedAnswer, sendEach } from '../net/streamed-answer.ts'
import type { ControlPlaneDependencies } from './control-plane-app.ts'
import { authenticateCaller } from './middlewares.ts'

const AUTHENTICATED_FOR_MS = 1_000

export interface DownloadedFile {
  readonly name: string
  readonly contentType: string
}

/** Each download reads a page in every round of the event loop, so many at once block calls. */
const MOST_AT_A_TIME = 10
const RETRY_AFTER_S = 5

/** Downloads that this process sends. */
const running = new Map<AccountId, number>()

/**
 * An error in `pieces` breaks the connection, so that no cut file looks complete.
 * @throws GatewayError `rate_limited` when the account has the most downloads at a time
 */
export function toDownload(
  accountId: AccountId,
  pieces: AsyncIterable<Uint8Array>,
  { name, contentType }: DownloadedFile,
): StreamedAnswer {
  const release = begin(accountId)
  return new StreamedAnswer(sendEach(released(pieces, release)), {
    headers: {
      'content-type': contentType,
      'content-disposition': `attachment; filename="${name}"`,
    },
    onLeft: async () => release(),
  })
}

async function* released(
  pieces: AsyncIterable<Uint8Array>,
  release: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } finally {
    release()
  }
}

/** @returns what ends the download, idempotent */
function begin(accountId: AccountId): () => void {
  const count = running.get(accountId) ?? 0
  if (count >= MOST_AT_A_TIME) throw tooMany()
  running.set(accountId, count + 1)
  let isRunning = true
  return () => {
    if (!isRunning) return
    isRunning = false
    const left = (running.get(accountId) ?? 1) - 1
    if (left === 0) running.delete(accountId)
    else running.set(accountId, left)
  }
}

function tooMany(): GatewayError {
  return new GatewayError(
    'rate_limited',
    `${MOST_AT_A_TIME} downloads of this account are running on this node. Try again when one has ended.`,
    { headers: { 'retry-after': String(RETRY_AFTER_S) } },
  )
}

/**
 * Authenticates the reader of a download again, at most once a second: no more of the file may be
 * sent once the key or session has ended. A reading without parts for a long time ends here when the
 * client leaves.
 * @returns a function to call before each part of the file; rejects as `authenticateCaller` does
 */
export function createReauthentication(
  dependencies: ControlPlaneDependencies,
  {
    request,
    clientAddress,
  }: { readonly request: Request; readonly clientAddress: string | undefined },
): () => Promise<void> {
  let authenticatedAtMs = systemClock.elapsed()
  return async () => {
    request.signal.throwIfAborted()
    if (systemClock.elapsed() - authenticatedAtMs < AUTHENTICATED_FOR_MS) return
    await authenticateCaller(dependencies, request, clientAddress)
    authenticatedAtMs = systemClock.elapsed()
  }
}
