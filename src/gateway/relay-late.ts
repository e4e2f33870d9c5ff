/**
 * Stage 6 for a stream whose targets stay silent: its answer begins before theirs, with 200 and
 * comments, so that neither a proxy nor the client gives it up. Owns how a failure is told once its
 * status is gone. It must not know how targets are asked.
 */
import type { GatewayError } from '../core/errors.ts'
import type { CallId } from '../core/ids.ts'
import { UpstreamFailure } from '../upstream/upstream-failure.ts'
import type { Dialect } from '../wire/dialect.ts'
import type { Attempted } from './ask-target.ts'
import { unusableAnswer } from './failures.ts'
import { KEEP_ALIVE, PatientReader, SILENCE } from './patient-reader.ts'
import { settleRefused } from './refuse.ts'
import { cutBody, giveUp, type RelayPorts, relayEvents } from './relay-answer.ts'
import type { Settle } from './settle.ts'
import { AnswerProgress, StreamedAnswer } from './streamed-answer.ts'

export interface LatePorts extends RelayPorts {
  /**
   * Silence of all targets after which a stream's answer begins without them, in milliseconds; 0:
   * never.
   */
  readonly commitAfterMs: number
  readonly reportFailure: (error: GatewayError, callId: CallId) => void
}

export interface LateInput {
  /** Retries, fallback and hedging go on in it. */
  readonly attempting: Promise<Attempted>
  readonly callId: CallId
  readonly dialect: Dialect
  readonly settle: Settle
  /** Known before a target has answered. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * @returns undefined when a target has begun to answer in time
 * @throws what `attempting` does in that time: it still has a status of its own
 */
export async function relayLate(ports: LatePorts, input: LateInput): Promise<Response | undefined> {
  const { commitAfterMs, deadlines } = ports
  if (commitAfterMs === 0 || input.dialect.encodeFailedStream === undefined) return undefined
  const patience = new PatientReader(reading(input), deadlines, commitAfterMs)
  try {
    if ((await patience.read()) !== SILENCE) return undefined
  } finally {
    patience.close()
  }
  const progress = new AnswerProgress()
  const stream = { ...input, progress }
  return new StreamedAnswer(lateEvents(ports, stream), {
    headers: {
      ...input.headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    },
    progress,
    onLeft: () => giveUpLate(stream),
  })
}

type LateStream = LateInput & { readonly progress: AnswerProgress }

function reading({ attempting }: LateInput) {
  return { read: () => attempting }
}

async function* lateEvents(ports: LatePorts, input: LateStream): AsyncGenerator<Uint8Array> {
  const patience = new PatientReader(reading(input), ports.deadlines, ports.keepAliveMs)
  let attempted: Attempted
  try {
    yield KEEP_ALIVE
    let next = await patience.read()
    for (; next === SILENCE; next = await patience.read()) yield KEEP_ALIVE
    attempted = next
  } catch (thrown) {
    yield* endRefused(ports, input, thrown)
    return
  } finally {
    patience.close()
  }
  const { answer, target } = attempted
  if (answer.type === 'events') yield* relayEvents(ports, answer, { ...input, attempted })
  else yield* endRefused(ports, input, unusableAnswer(target.name, 'sent no event stream'))
}

/**
 * The call is written down as what it is, and its client is told in the stream: there is no status
 * any more.
 */
async function* endRefused(
  { clock, reportFailure }: LatePorts,
  { settle, dialect, callId, progress }: LateStream,
  thrown: unknown,
): AsyncGenerator<Uint8Array> {
  progress.end()
  const error = await settleRefused(thrown, settle)
  if (error.kind === 'internal_error') reportFailure(error, callId)
  if (thrown instanceof UpstreamFailure && thrown.type === 'cancelled') return
  const told = dialect.encodeFailedStream?.(error)
  if (told !== undefined) yield told
  await cutBody(clock)
}

/** The client left: its request is aborted, and with it whatever was still being asked. */
function giveUpLate(input: LateStream): Promise<unknown> {
  return input.attempting.then(
    ({ answer }) => (answer.type === 'whole' ? undefined : giveUp(answer, input)),
    (thrown) => settleRefused(thrown, input.settle),
  )
}
