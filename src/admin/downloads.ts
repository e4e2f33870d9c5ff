/** Files that are sent as they are read, to readers who may take hours. */
import { systemClock } from '../core/clock.ts'
import { StreamedAnswer, sendEach } from '../net/streamed-answer.ts'
import type { ControlPlaneDependencies } from './control-plane-app.ts'
import { authenticateCaller } from './middlewares.ts'

const AUTHENTICATED_FOR_MS = 1_000

export interface DownloadedFile {
  readonly name: string
  readonly contentType: string
}

/** An error in `pieces` breaks the connection, so that no cut file looks complete. */
export function toDownload(
  pieces: AsyncIterable<Uint8Array>,
  { name, contentType }: DownloadedFile,
): StreamedAnswer {
  return new StreamedAnswer(sendEach(pieces), {
    headers: {
      'content-type': contentType,
      'content-disposition': `attachment; filename="${name}"`,
    },
  })
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
