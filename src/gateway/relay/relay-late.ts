/**
 * Stage 6 for a stream with silent targets: sends status 200 and comments before an answer begins,
 * so neither a proxy nor the client gives up. Later failures are sent in the stream.
 */
import type { GatewayError } from '../../core/errors.ts'
import type { CallId } from '../../core/ids.ts'
import type { Deadline, Deadlines } from '../../net/deadlines.ts'
import { type AnswerSink, StreamedAnswer } from '../../net/streamed-answer.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import type { Attempted } from '../attempt/ask-target.ts'
import { unusableAnswer } from '../attempt/failures.ts'
import { type AdmittedCall, spendHeadersOf } from '../call.ts'
import { settleRefused } from '../refuse.ts'
import { KEEP_ALIVE, KeepAlive } from './keep-alive.ts'
import {
  cutAfterFlush,
  giveUp,
  NOT_KEPT,
  type RelayPorts,
  relayEvents,
  toNameComments,
} from './relay-answer.ts'
import { newSeen } from './stream-result.ts'

export interface LatePorts extends RelayPorts {
  /**
   * Silence after which a stream's answer begins without its targets, in milliseconds; 0: never.
   */
  readonly commitAfterMs: number
  readonly reportFailure: (error: GatewayError, callId: CallId) => void
}

/**
 * @returns undefined when a target began to answer in time
 * @throws the errors of `attempting` until then, which can still have their own status
 */
export async function relayLate(
  ports: LatePorts,
  call: AdmittedCall,
  attempting: Promise<Attempted>,
): Promise<Response | undefined> {
  const { commitAfterMs, deadlines } = ports
  if (commitAfterMs === 0 || call.dialect.encodeFailedStream === undefined) return undefined
  if (await isOverWithin(commitAfterMs, attempting, deadlines)) return undefined
  const late = { call, attempting }
  return new StreamedAnswer((client) => relayLateEvents(ports, late, client), {
    headers: {
      ...call.headers,
      ...spendHeadersOf(call.dialect, call.admission),
      'content-type': 'text/event-stream; charset=utf-8',
      ...NOT_KEPT,
    },
    onLeft: () => giveUpLate(ports, late),
  })
}

interface LateCall {
  readonly call: AdmittedCall
  readonly attempting: Promise<Attempted>
}

function isOverWithin(ms: number, work: Promise<unknown>, deadlines: Deadlines): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const deadline: Deadline = {
      dueAt: deadlines.now() + ms,
      onDue: (cause) => cause === 'due' && resolve(false),
    }
    deadlines.add(deadline)
    const end = (then: () => void) => {
      deadlines.remove(deadline)
      then()
    }
    work.then(
      () => end(() => resolve(true)),
      (thrown) => end(() => reject(thrown)),
    )
  })
}

async function relayLateEvents(
  ports: LatePorts,
  { call, attempting }: LateCall,
  client: AnswerSink,
): Promise<void> {
  const keepAlive = new KeepAlive(ports, client)
  let attempted: Attempted
  try {
    await client.write(KEEP_ALIVE)
    attempted = await keepAlive.during(attempting)
  } catch (thrown) {
    await endRefused(ports, call, { thrown, client })
    return
  } finally {
    keepAlive.close()
  }
  const { answer, target } = attempted
  if (answer.type === 'events') {
    const comments = toNameComments(attempted)
    if (comments !== '') await client.writeText(comments)
    await relayEvents(ports, { call, target, answer, seen: newSeen() }, client)
  } else
    await endRefused(ports, call, {
      thrown: unusableAnswer(target.name, 'sent no event stream'),
      client,
    })
}

/**
 * Records the refused call, and sends the error in the stream, because the status was sent already.
 */
async function endRefused(
  ports: LatePorts,
  call: AdmittedCall,
  { thrown, client }: { readonly thrown: unknown; readonly client: AnswerSink },
): Promise<void> {
  const error = await settleRefused(ports, call, thrown)
  if (error.kind === 'internal_error') ports.reportFailure(error, call.id)
  if (thrown instanceof UpstreamFailure && thrown.type === 'cancelled') return
  const failedStream = call.dialect.encodeFailedStream?.(error)
  if (failedStream !== undefined) await client.write(failedStream)
  await cutAfterFlush(ports.clock, client)
}

async function giveUpLate(ports: LatePorts, { call, attempting }: LateCall): Promise<void> {
  try {
    const { answer, target } = await attempting
    if (answer.type !== 'whole') await giveUp(ports, { call, target, answer, seen: newSeen() })
  } catch (thrown) {
    await settleRefused(ports, call, thrown)
  }
}
