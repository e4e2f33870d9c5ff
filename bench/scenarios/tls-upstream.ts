/** An upstream over TLS, as real providers are, with 256 concurrent calls. */
import { type RunningContender, WARM_UP_SECONDS } from '../contender.ts'
import { measureThroughput } from '../measure-throughput.ts'
import type { Note } from '../plan.ts'
import type { JsonUpstream } from '../upstream.ts'

const CONNECTIONS = 256
const WARM_UP = { bodyBytes: 1024, connections: 32, seconds: WARM_UP_SECONDS }
/** Long enough for a call to time out. */
const SECONDS = 4
/** The time after which wrk itself counts a call as lost. */
const TIMEOUT_SECONDS = 2

export async function warmUpTls(contender: RunningContender, folder: string): Promise<void> {
  await measureThroughput(contender, { ...WARM_UP, folder })
}

export async function measureTlsUpstream(
  { folder, upstream }: { readonly folder: string; readonly upstream: JsonUpstream },
  contender: RunningContender,
  note: Note,
): Promise<void> {
  const acceptedBefore = await upstream.connectionsAccepted()
  const measured = await measureThroughput(contender, {
    bodyBytes: 1024,
    connections: CONNECTIONS,
    seconds: SECONDS,
    timeoutSeconds: TIMEOUT_SECONDS,
    folder,
  })
  const opened = (await upstream.connectionsAccepted()) - acceptedBefore
  if (measured.failed > 0) throw new Error(`${measured.failed} calls failed before a TLS upstream`)
  const label = `TLS upstream, ${CONNECTIONS} connections`
  note(`${label}: calls that timed out`, measured.timedOut)
  // With almost no calls, a cost or rate would be meaningless.
  if (measured.calls < CONNECTIONS) return
  note(`${label}: calls/s`, measured.requestsPerSecond)
  note(`${label}: CPU µs a call`, measured.cpuMicrosPerCall ?? Number.NaN)
  note(`${label}: p50, ms`, measured.p50Ms)
  note(`${label}: p99, ms`, measured.p99Ms)
  note(`${label}: upstream connections opened`, opened)
  note(`${label}: … for 1,000 calls`, (1000 * opened) / measured.calls)
}
