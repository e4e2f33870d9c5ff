/** State of one call: ids, clock, results of the stages, attempts, and the memory of its body. */
import type {
  AttemptFailure,
  CallAttempt,
  CallCredential,
  CallOutcome,
  CallRecord,
} from '../core/call.ts'
import { callsUnderWay } from '../core/calls-under-way.ts'
import type { Stopwatch, Timekeeper } from '../core/clock.ts'
import type { OtherPrice, ToolKind } from '../core/cost.ts'
import { type ErrorKind, GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import { type CallId, createCallId } from '../core/ids.ts'
import type { UnpricedKind } from '../core/model-entry.ts'
import { bodyMemory } from '../net/body-memory.ts'
import type { HttpRequest } from '../net/messages.ts'
import type { AnswerOutcome } from '../wire/codec.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { JsonObject } from '../wire/json-splice.ts'
import type { Attribution } from './attribute.ts'
import type { AttemptRecord, AttemptTrace, CallObserver, CallTrace } from './call-observer.ts'
import type { FusedCall } from './fuses.ts'
import type { CallDimensions, Caller, Prices, Ticket } from './ports.ts'

export interface Call {
  readonly id: CallId
  readonly dialect: Dialect
  readonly request: Pick<HttpRequest, 'headers' | 'signal'>
  readonly startedAt: number
  /** `startedAt` on the clock's monotonic `elapsed` scale. */
  readonly begunAt: number
  readonly trace: CallTrace | undefined
  /**
   * Released when streaming starts or when the call ends. Until then, another target can be asked.
   */
  readonly body: HeldBody
  /** The gateway's own answer headers: the call's id, and the limits after admission. */
  readonly headers: Record<string, string>
  readonly attempts: AttemptLog
  caller: Caller | undefined
  accepted: AcceptedRequest | undefined
  /** Undefined until found, and when the account has no such gate. */
  gate: Gate | undefined
  /** Undefined until the body is accepted. */
  attribution: Attribution | undefined
  /** Undefined: no fuse applies. */
  fused: FusedCall | undefined
  /** Undefined until admitted. An admitted call is always settled. */
  admission: Admission | undefined
  /** Undefined: no budget may steer the call. */
  turn: { readonly id: string; readonly isKept: boolean } | undefined
  /** The budget that changed the call's targets, and how: `<id>; <action>`. */
  steeredBy: string | undefined
  /** Set by `settle`. */
  record: CallRecord | undefined
  /** Set by `settle`; resolves when the call is in the journal. */
  settled: Promise<void> | undefined
}

export interface Admission {
  readonly ticket: Ticket
  readonly dimensions: CallDimensions
  /** The prices when the call was admitted. Undefined: no prices are known. */
  readonly prices: Prices | undefined
  readonly inputTokens: number
  /** The request's limit, or else an estimate. */
  readonly outputTokens: number
  /** Tokens. Undefined: the request sets no limit. */
  readonly outputCap: number | undefined
  /** The gate whose output estimate this call updates, if any. */
  readonly teaches: Gate | undefined
  readonly tools: readonly ToolKind[]
  readonly otherPrices: readonly OtherPrice[]
  /** Estimates the cost of targets without a known price. Undefined: their cost is unknown. */
  readonly estimateAs: UnpricedKind | undefined
}

export interface AdmittedCall extends Call {
  caller: Caller
  accepted: AcceptedRequest
  admission: Admission
}

export function isAdmitted(call: Call): call is AdmittedCall {
  return call.admission !== undefined
}

export function toAdmitted(call: Call, admission: Admission): AdmittedCall {
  call.admission = admission
  const { headers } = admission.ticket
  for (const name in headers) call.headers[name] = headers[name] ?? ''
  return call as AdmittedCall
}

/** Undefined when the dialect's clients show no limits, or when no budget in money applies. */
export function spendHeadersOf(
  { spendHeaders }: Pick<Dialect, 'spendHeaders'>,
  { ticket }: Pick<Admission, 'ticket'>,
): Readonly<Record<string, string>> | undefined {
  const spend = spendHeaders === undefined ? undefined : ticket.spend
  return spend && spendHeaders?.ofAnswer(spend)
}

export interface AttemptLog {
  readonly list: AttemptRecord[]
  /** `provider/model` of the latest attempt, or of the attempt whose failure ends the call. */
  target: string | null
  credential: CallCredential | null
  /** Milliseconds on the clock's `elapsed` scale. */
  firstByteAt: number | null
  /** Targets that were skipped because another target sealed the reasoning in the conversation. */
  skipped: readonly string[]
}

export interface CallPorts {
  readonly clock: Pick<Timekeeper, 'now' | 'elapsed'>
  readonly bodyBudget: BodyBudget
  readonly observer?: CallObserver | undefined
}

export function beginCall(
  { clock, bodyBudget, observer }: CallPorts,
  request: HttpRequest,
  dialect: Dialect,
  id: CallId = createCallId(),
): Call {
  const begunAt = clock.elapsed()
  callsUnderWay.begin(begunAt)
  const headers: Record<string, string> = { 'x-request-id': id }
  if (dialect.requestIdHeader !== undefined) headers[dialect.requestIdHeader] = id
  return {
    id,
    dialect,
    request,
    startedAt: clock.now(),
    begunAt,
    trace: observer?.begin(request.headers),
    body: bodyBudget.open(),
    headers,
    attempts: { list: [], target: null, credential: null, firstByteAt: null, skipped: NOTHING },
    caller: undefined,
    accepted: undefined,
    gate: undefined,
    attribution: undefined,
    fused: undefined,
    admission: undefined,
    turn: undefined,
    steeredBy: undefined,
    record: undefined,
    settled: undefined,
  }
}

const NOTHING: readonly never[] = []

export function beginAttempt(
  clock: Stopwatch,
  target: string,
  trace?: AttemptTrace,
): AttemptRecord {
  return {
    target,
    begunAt: clock.elapsed(),
    status: null,
    failedAt: null,
    ownedPrices: undefined,
    isPlatforms: false,
    isTranslated: false,
    writesUnseen: false,
    failure: null,
    isSent: false,
    isGivenUp: false,
    hasTimedOut: false,
    trace,
  }
}

export function giveUpAttempt(clock: Stopwatch, attempt: AttemptRecord): void {
  if (attempt.failedAt !== null) return
  attempt.failedAt = clock.elapsed()
  attempt.isGivenUp = attempt.isSent && !hasRefused(attempt)
}

/** True when the upstream answered with an error status, so it does not charge. */
export function hasRefused({ status }: AttemptRecord): boolean {
  return status !== null && (status < 200 || status > 299)
}

export function toOutcome(
  clock: Stopwatch,
  call: { readonly begunAt: number; readonly attempts: readonly AttemptRecord[] },
): AnswerOutcome {
  const now = clock.elapsed()
  return {
    latencyMs: Math.round(now - call.begunAt),
    attempts: call.attempts.map(({ target, status, begunAt, failedAt }) => ({
      target,
      status,
      ms: Math.round((failedAt ?? now) - begunAt),
    })),
  }
}

export interface AttemptsEnd {
  readonly outcome: CallOutcome
  readonly errorKind: ErrorKind | null
  /** `provider/model` that answered, or else the last attempt's. */
  readonly target: string | null
  /** Milliseconds on the clock's `elapsed` scale. */
  readonly begunAt: number
}

/** Undefined for a single attempt, because the record's own columns describe it. */
export function toAttemptDetails(
  clock: Stopwatch,
  attempts: readonly AttemptRecord[],
  end: AttemptsEnd,
): readonly CallAttempt[] | undefined {
  if (attempts.length === 0 || (attempts.length === 1 && end.outcome === 'succeeded'))
    return undefined
  const now = clock.elapsed()
  const broken = findBroken(attempts, end)
  return attempts.map((attempt) => {
    const { target, status, begunAt, failedAt } = attempt
    const failure = attempt === broken ? toBroken(end) : attempt.failure
    return {
      target,
      status,
      afterMs: Math.round(begunAt - end.begunAt),
      durationMs: Math.round((failedAt ?? now) - begunAt),
      ...(failure === null ? {} : { failure }),
    }
  })
}

function findBroken(
  attempts: readonly AttemptRecord[],
  { outcome, target }: AttemptsEnd,
): AttemptRecord | undefined {
  if (outcome !== 'failed') return undefined
  return attempts.findLast(
    (attempt) => attempt.target === target && attempt.failure === null && !attempt.isGivenUp,
  )
}

function toBroken({ errorKind }: AttemptsEnd): AttemptFailure | null {
  return errorKind === null ? null : { kind: errorKind, code: null }
}

/**
 * Memory for request bodies is usually free again within a second, so a retry after a second
 * usually succeeds.
 */
const RETRY_SECONDS = '1'

/** The process-wide memory limit for request bodies. */
export class BodyBudget {
  readonly #maxBytes: number
  #heldBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  open(): HeldBody {
    return new HeldBody(this)
  }

  take(bytes: number): void {
    if (this.#heldBytes + bytes > this.#maxBytes)
      throw new GatewayError(
        'unavailable',
        "The gateway's memory limit for request bodies is reached. Try again soon.",
        { headers: { 'retry-after': RETRY_SECONDS } },
      )
    this.#heldBytes += bytes
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes
  }
}

/** The body of one call: its reservation in the budget, and its memory after reading. */
export class HeldBody {
  readonly #budget: BodyBudget
  #bytes = 0
  #text: JsonObject | undefined
  #isReleased = false

  constructor(budget: BodyBudget) {
    this.#budget = budget
  }

  /**
   * Reserves bytes before they are read.
   * @throws GatewayError `unavailable`, with `retry-after`; `request_timeout` after `release`
   */
  take(bytes: number): void {
    if (this.#isReleased) throw new GatewayError('request_timeout', 'The call has ended.')
    this.#budget.take(bytes)
    this.#bytes += bytes
  }

  /** Takes ownership of the body's memory, so `release` frees that memory too. */
  own(text: JsonObject): void {
    if (!this.#isReleased) this.#text = text
  }

  /** Called when no stage reads the body and all of it is sent. Idempotent. */
  release(): void {
    this.#isReleased = true
    const memory = this.#text?.release()
    if (memory !== undefined) bodyMemory.release(memory)
    this.#text = undefined
    this.#budget.release(this.#bytes)
    this.#bytes = 0
  }
}
