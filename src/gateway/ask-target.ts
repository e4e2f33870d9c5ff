/** One attempt at one target: send, wait for the beginning of a usable answer, note how the target did. */
import { GatewayError } from '../core/errors.ts'
import type { CallId } from '../core/ids.ts'
import type { Deadlines } from '../upstream/deadlines.ts'
import { Exchange, type ExchangeTimeouts } from '../upstream/exchange.ts'
import { forwardRequestHeaders } from '../upstream/forwarded-headers.ts'
import { UpstreamFailure } from '../upstream/upstream-failure.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { type BegunAnswer, beginAnswer, type OutgoingRequest } from './begin-answer.ts'
import { toFailure } from './failures.ts'
import type { Plan, Target } from './plan-targets.ts'
import { askedDelayMs, isTargetsFault } from './retry.ts'
import type { CallProgress } from './settle.ts'
import type { TargetHealth } from './target-health.ts'
import { type CallerRequest, translate } from './translate.ts'

export interface AskPorts {
  readonly deadlines: Deadlines
  readonly timeouts: ExchangeTimeouts
  readonly health: TargetHealth
}

export interface AttemptInput {
  /** Of the caller's own request: its headers, and whether the client is still there. */
  readonly request: Pick<Request, 'headers' | 'signal'>
  readonly accepted: AcceptedRequest
  readonly dialect: Dialect
  readonly plan: Plan
  readonly progress: CallProgress
  readonly callId: CallId
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  /** Decoded when the first target that speaks another dialect is asked; undefined where the dialect is only relayed. */
  readonly caller: CallerRequest | undefined
  /** When the first target was asked, on `performance.now()`'s clock: the gate's time limit counts from there. */
  readonly startedAt: number
}

export interface Attempted {
  readonly target: Target
  readonly answer: BegunAnswer
}

/**
 * @param signal aborts when nobody waits for this attempt any more
 * @throws GatewayError that tells the target's failure; UpstreamFailure `cancelled` when `signal` was aborted
 */
export async function askTarget(
  ports: AskPorts,
  input: AttemptInput,
  target: Target,
  signal: AbortSignal,
): Promise<Attempted> {
  const { progress } = input
  const { health } = ports
  progress.attempts += 1
  progress.target = target.name
  health.noteAsked(target.healthKey)
  const askedAt = performance.now()
  try {
    const answer = await exchangeOnce(ports, input, target, signal)
    health.noteAnswered(target.healthKey, performance.now() - askedAt)
    return { target, answer }
  } catch (thrown) {
    // The client went away: no blame on the upstream.
    if (thrown instanceof UpstreamFailure && thrown.type === 'cancelled') {
      health.noteAbandoned(target.healthKey)
      throw thrown
    }
    const failure = toFailure(thrown, target.name)
    if (isTargetsFault(failure)) health.noteFailed(target.healthKey, askedDelayMs(failure))
    else health.noteAbandoned(target.healthKey)
    throw failure
  }
}

async function exchangeOnce(
  ports: AskPorts,
  input: AttemptInput,
  target: Target,
  signal: AbortSignal,
): Promise<BegunAnswer> {
  const { request, accepted, dialect, plan, startedAt } = input
  const outgoing = toOutgoing(input, target)
  const totalMs = (plan.gate.timeoutMs ?? ports.timeouts.totalMs) - (performance.now() - startedAt)
  if (totalMs <= 0) throw new GatewayError('upstream_timeout', `No time was left to ask ${target.name}.`)
  const exchange = new Exchange(ports.deadlines, {
    url: target.url,
    headers: toUpstreamHeaders(request.headers, target),
    body: outgoing.body,
    timeouts: { ...ports.timeouts, totalMs },
    signal,
  })
  try {
    return await beginAnswer(exchange, { target, dialect, request: accepted, outgoing })
  } catch (thrown) {
    exchange.close()
    throw thrown
  }
}

function toOutgoing(input: AttemptInput, target: Target): OutgoingRequest {
  const { accepted, dialect, caller, progress, plan, request } = input
  const client = target.codec
  if (client === undefined || caller === undefined) {
    progress.ignored = accepted.ignored
    const { body, hidesUsage } = dialect.rewrite(accepted, target)
    return { type: 'relayed', body, hidesUsage }
  }
  const translated = translate({
    caller,
    target,
    client,
    facts: { callId: input.callId, gateId: plan.gate.id, startedAtMs: input.startedAtMs },
    isStrict: request.headers.get('x-gatehouse-strict') === 'true',
  })
  progress.ignored = [...accepted.ignored, ...translated.ignored]
  return { type: 'translated', ...translated }
}

function toUpstreamHeaders(headers: Headers, target: Target): Record<string, string> {
  // A client's headers belong to the dialect that it speaks.
  const forwarded = target.codec === undefined ? forwardRequestHeaders(headers) : {}
  const key = target.credential.reveal()
  if (target.keyHeader === undefined) forwarded.authorization = `Bearer ${key}`
  else forwarded[target.keyHeader] = key
  // What the client says of its dialect's version counts.
  for (const [name, value] of Object.entries(target.headers ?? {})) forwarded[name] ??= value
  forwarded['content-type'] = 'application/json'
  // The answer is read on its way through, so it is asked for as it is.
  forwarded['accept-encoding'] = 'identity'
  return forwarded
}
