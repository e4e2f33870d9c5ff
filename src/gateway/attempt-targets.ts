/**
 * Stage 5: ask the targets in order until one begins a usable answer. Nothing has been forwarded yet, so a failure here
 * is still a real HTTP status; once this returns, the call is committed to the target that answered.
 */
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { Deadlines } from '../upstream/deadlines.ts'
import { Exchange, type ExchangeTimeouts } from '../upstream/exchange.ts'
import { forwardRequestHeaders } from '../upstream/forwarded-headers.ts'
import { UpstreamFailure } from '../upstream/upstream-failure.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { type BegunAnswer, beginAnswer } from './begin-answer.ts'
import { toFailure } from './failures.ts'
import type { Plan, Target } from './plan-targets.ts'
import { isWorthRetrying, retryDelayMs } from './retry.ts'
import type { CallProgress } from './settle.ts'

export interface AttemptPorts {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly timeouts: ExchangeTimeouts
}

export interface Attempted {
  readonly target: Target
  readonly answer: BegunAnswer
}

export interface AttemptInput {
  /** Of the caller's own request: its headers, and whether the client is still there. */
  readonly request: Pick<Request, 'headers' | 'signal'>
  readonly accepted: AcceptedRequest
  readonly dialect: Dialect
  readonly plan: Plan
  readonly progress: CallProgress
}

/** @throws GatewayError of the last target's failure; UpstreamFailure `cancelled` when the client left */
export async function attemptTargets(ports: AttemptPorts, input: AttemptInput): Promise<Attempted> {
  const { plan, progress } = input
  const { signal } = input.request
  const startedAt = performance.now()
  let failure: GatewayError | undefined
  for (const target of plan.targets) {
    for (let retry = 0; retry <= plan.gate.maxRetries; retry += 1) {
      if (failure !== undefined && retry > 0) await pause(retryDelayMs(retry, failure), signal)
      progress.attempts += 1
      progress.target = target.name
      try {
        const answer = await attemptOnce(ports, input, target, startedAt)
        progress.firstByteAt = ports.clock.now()
        return { target, answer }
      } catch (thrown) {
        // The client went away: no retry, no blame on the upstream.
        if (thrown instanceof UpstreamFailure && thrown.type === 'cancelled') throw thrown
        failure = toFailure(thrown, target.name)
        // What the caller got wrong here is wrong everywhere.
        if (!isWorthRetrying(failure)) throw failure
      }
    }
  }
  throw failure ?? new GatewayError('internal_error', 'The gate has no target.')
}

async function attemptOnce(
  ports: AttemptPorts,
  input: AttemptInput,
  target: Target,
  startedAt: number,
): Promise<BegunAnswer> {
  const { request, accepted, dialect, plan } = input
  const relayed = dialect.rewrite(accepted, target)
  const totalMs = (plan.gate.timeoutMs ?? ports.timeouts.totalMs) - (performance.now() - startedAt)
  const exchange = new Exchange(ports.deadlines, {
    url: target.url,
    headers: toUpstreamHeaders(request.headers, target),
    body: relayed.body,
    timeouts: { ...ports.timeouts, totalMs },
    signal: request.signal,
  })
  try {
    return await beginAnswer(exchange, { target, dialect, request: accepted, relayed })
  } catch (thrown) {
    exchange.close()
    throw thrown
  }
}

function toUpstreamHeaders(headers: Headers, target: Target): Record<string, string> {
  const forwarded = forwardRequestHeaders(headers)
  forwarded.authorization = `Bearer ${target.credential.reveal()}`
  forwarded['content-type'] = 'application/json'
  // The answer is read on its way through, so it is asked for as it is.
  forwarded['accept-encoding'] = 'identity'
  return forwarded
}

/** Waits before a retry. @throws UpstreamFailure `cancelled` when the client leaves meanwhile */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      reject(new UpstreamFailure('cancelled', 'The client left before the answer was complete.'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, ms)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}
