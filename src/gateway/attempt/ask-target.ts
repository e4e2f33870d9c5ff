/**
 * One attempt at one target: sends the request, waits for a usable beginning of the answer, and
 * records the target's health.
 */

import type { AttemptFailure } from '../../core/call.ts'
import type { Timekeeper } from '../../core/clock.ts'
import { formOfDialect } from '../../core/dialects.ts'
import { GatewayError } from '../../core/errors.ts'
import { type AddressGuard, AddressRefusedError } from '../../net/address-guard.ts'
import type { Exchange, ExchangeTimeouts, Upstream } from '../../net/exchange.ts'
import type { CommonHeaders } from '../../net/headers.ts'
import type { LeaveSignal } from '../../net/messages.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import { type WaitLimits, waitWithin } from '../../net/wait-within.ts'
import type { AcceptedRequest } from '../../wire/dialect.ts'
import { readStrictness } from '../accept.ts'
import {
  type AdmittedCall,
  type AttemptLog,
  beginAttempt,
  giveUpAttempt,
  hasRefused,
} from '../call.ts'
import type { AttemptRecord } from '../call-observer.ts'
import type { RevokedCalls } from '../end-revoked-calls.ts'
import type { Target } from '../plan/compile-target.ts'
import type { Credentials, UnusableTargets } from '../ports.ts'
import type { SeenReasoning } from '../settle/seen-reasoning.ts'
import { namedMember, refusedMember, refusesStreamOptions } from './adapt-members.ts'
import { type AnswerExpectation, type BegunAnswer, beginAnswer } from './begin-answer.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import { isOurEnd, isSilence, outOfDescriptors, toFailure } from './failures.ts'
import {
  type Attempting,
  joinNames,
  type OutgoingPorts,
  type OutgoingRequest,
  toOutgoing,
} from './outgoing-request.ts'
import { STREAM_OPTIONS } from './refused-members.ts'
import { isTargetsFault, mayPass, requestedDelayMs } from './retry.ts'
import { signRequest } from './sign-request.ts'

export interface AskPorts extends OutgoingPorts {
  readonly upstream: Upstream
  readonly timeouts: ExchangeTimeouts
  readonly credentials: Credentials
  readonly breakers: CircuitBreakers
  readonly unusable?: UnusableTargets | undefined
  /** Undefined: only the catalog names the models that reason. */
  readonly reasoning?: SeenReasoning | undefined
  readonly addresses: Pick<AddressGuard, 'resolve' | 'locate' | 'avoid'>
  /** Undefined: no caller loses the right to call during a call. */
  readonly revoked?: Pick<RevokedCalls, 'reasonFor'> | undefined
  /** True when the process has no file descriptor left for a connection. Undefined: unknown. */
  readonly isOutOfDescriptors?: (() => boolean) | undefined
}

export interface Attempted {
  readonly target: Target
  readonly answer: BegunAnswer
  readonly ignored: readonly string[]
  readonly adapted: readonly string[]
}

/** An upstream names one refused member at a time. */
const MAX_REPEATS = 4

/**
 * @param signal aborts when this attempt is no longer needed
 * @throws GatewayError for the target's failure; UpstreamFailure `cancelled` after an abort
 */
export function askTarget(
  ports: AskPorts,
  input: Attempting,
  target: Target,
  signal: LeaveSignal,
  repeatsLeft = MAX_REPEATS,
): Promise<Attempted> {
  const { refusedMembers } = ports
  const { request } = input.plan
  const attempted = askOnce(ports, input, target, signal)
  if (refusedMembers === undefined) return attempted
  const learns = adapts(input, target)
  const counts = request.stream && !refusedMembers.has(target, STREAM_OPTIONS)
  if (!learns && !counts) return attempted
  return attempted.catch((thrown: unknown) => {
    const isLearnt = learns && noteRefusal(ports, target, thrown, request)
    if (counts && refusesStreamOptions(thrown, request)) refusedMembers.note(target, STREAM_OPTIONS)
    else if (!isLearnt) throw thrown
    if (repeatsLeft === 0) throw thrown
    return askTarget(ports, input, target, signal, repeatsLeft - 1)
  })
}

/**
 * @returns false when the failure names no optional member, or a member that was already left out
 */
function noteRefusal(
  { refusedMembers }: AskPorts,
  target: Target,
  thrown: unknown,
  request: AcceptedRequest,
): boolean {
  const member = refusedMember(thrown, request)
  if (member === undefined || refusedMembers?.has(target, member) !== false) return false
  refusedMembers.note(target, member)
  return true
}

/** Whether the gate lets the gateway send a refused request once more without the refused member. */
function adapts({ call, plan }: Attempting, { translator }: Target): boolean {
  return (
    plan.gate.adapt !== 'off' && translator === undefined && !readStrictness(call.request.headers)
  )
}

async function askOnce(
  ports: AskPorts,
  input: Attempting,
  target: Target,
  signal: LeaveSignal,
): Promise<Attempted> {
  const { call, plan } = input
  const { clock, breakers } = ports
  const attempt = beginAttempt(clock, target.name, call.trace?.beginAttempt())
  attempt.ownedPrices = target.ownedPrices
  attempt.isPlatforms = target.owner === 'platform'
  attempt.isTranslated = target.isTranslated
  attempt.writesUnseen = writesUnseen(ports, call, target)
  call.attempts.list.push(attempt)
  noteTarget(call.attempts, target)
  if (target.owner === 'account') ports.credentials.touch(plan.gate.accountId, target.providerId)
  breakers.noteAsked(target.healthKey)
  let exchange: Exchange | undefined
  try {
    const opened = await openExchange(ports, input, { target, signal, attempt })
    exchange = opened.exchange
    const { expected } = opened
    attempt.isSent = !signal.aborted
    const answer = await beginAnswer(exchange, await exchange.send(), expected)
    breakers.noteAnswered(target.healthKey, clock.elapsed() - attempt.begunAt)
    ports.unusable?.noteUsable(plan.gate.accountId, target.name)
    const { ignored, adapted = NOTHING } = expected.form
    const lost = answer.type === 'whole' ? answer.ignored : undefined
    return { target, answer, ignored: joinNames(ignored, lost), adapted }
  } catch (raised) {
    exchange?.close()
    const thrown = isOwnShortage(ports, raised) ? outOfDescriptors(raised) : raised
    const isCancelled = thrown instanceof UpstreamFailure && thrown.type === 'cancelled'
    attempt.isSent = exchange?.isSent === true
    if (isCancelled || isOurEnd(thrown)) giveUpAttempt(clock, attempt)
    attempt.hasTimedOut = attempt.isSent && isSilence(thrown) && !hasRefused(attempt)
    attempt.failedAt ??= clock.elapsed()
    // The client left, so the upstream is not blamed.
    if (isCancelled) {
      breakers.noteAbandoned(target.healthKey)
      throw thrown
    }
    if (target.isGuarded && isUnreachable(thrown)) ports.addresses.avoid(target.url)
    const failure = toFailure(thrown, target.name)
    attempt.failure = toAttemptFailure(failure)
    const refused = namedMember(failure)
    if (refused !== undefined) attempt.refusedMember = refused
    if (mayPass(failure)) input.mayPass = true
    if (failure.targetFault !== undefined)
      ports.unusable?.note({
        accountId: plan.gate.accountId,
        target: target.name,
        owner: target.owner,
        reason: failure.targetFault,
        status: attempt.status,
      })
    if (isTargetsFault(failure))
      breakers.noteFailed(target.healthKey, requestedDelayMs(failure), failure)
    else breakers.noteAbandoned(target.healthKey)
    throw failure
  }
}

/** A provider may send any text as its code, so only short names are recorded. */
const CODE = /^[\w.-]{1,64}$/

function toAttemptFailure({ kind, code }: GatewayError): AttemptFailure {
  const isReason = code !== null && code !== kind && CODE.test(code)
  return { kind, code: isReason ? code : null }
}

/** False for embeddings, because a model does not write vectors token by token. */
function writesUnseen(
  { reasoning }: AskPorts,
  { dialect, accepted, caller }: AdmittedCall,
  { name, traits }: Target,
): boolean {
  if (!formOfDialect(dialect.id).writesText) return false
  if (!accepted.stream || traits.reasoning !== undefined) return true
  return reasoning?.has(caller.accountId, name) === true
}

export function noteTarget(attempts: AttemptLog, target: Target): void {
  attempts.target = target.name
  attempts.credential = target.owner === 'account' ? 'own' : 'platform'
}

interface OneAttempt {
  readonly target: Target
  readonly signal: LeaveSignal
  readonly attempt: AttemptRecord
}

interface OpenedExchange {
  readonly exchange: Exchange
  readonly expected: AnswerExpectation
}

function openExchange(
  ports: AskPorts,
  input: Attempting,
  one: OneAttempt,
): OpenedExchange | Promise<OpenedExchange> {
  const { target } = one
  const outgoing = toOutgoing(ports, input, target, one.attempt.trace)
  if (timeUntil(ports.clock, input.endsAt) <= 0)
    throw new GatewayError(
      'upstream_timeout',
      `The time limit was reached before ${target.name} could be asked.`,
    )
  return target.signing === undefined && !target.isGuarded
    ? open(ports, input, one, { outgoing, common: target.common })
    : openChecked(ports, input, one, outgoing)
}

async function openChecked(
  ports: AskPorts,
  input: Attempting,
  one: OneAttempt,
  outgoing: OutgoingRequest,
): Promise<OpenedExchange> {
  const { target, signal } = one
  const leftMs = () => timeUntil(ports.clock, input.endsAt)
  // A signature covers all headers and replaces the key.
  const own = outgoing.headers
  const headers = target.signing === undefined ? own : target.common.join(own)
  const common = target.signing === undefined ? target.common : undefined
  const secrets =
    target.signing === undefined
      ? undefined
      : await signRequest(target, {
          ...{ headers, body: outgoing.body, signal, withinMs: leftMs() },
          locate: (address) => ports.addresses.locate(address),
        })
  const addresses = target.isGuarded
    ? await resolve(ports, target, { signal, withinMs: leftMs() })
    : undefined
  return open(ports, input, one, { outgoing: { ...outgoing, headers }, common, secrets, addresses })
}

function open(
  ports: AskPorts,
  { call, plan, endsAt }: Attempting,
  { target, signal, attempt }: OneAttempt,
  prepared: {
    readonly outgoing: OutgoingRequest
    readonly common: CommonHeaders | undefined
    readonly secrets?: readonly string[] | undefined
    readonly addresses?: readonly string[] | undefined
  },
): OpenedExchange {
  const { outgoing, common, secrets, addresses } = prepared
  // Admission, a signature or a lookup may have taken long enough for a revocation, so the caller's
  // right is checked again.
  const revoked = ports.revoked?.reasonFor(call)
  if (revoked !== undefined) throw revoked
  const exchange = ports.upstream.open({
    url: target.url,
    addresses,
    group: target.isGuarded ? 'owned' : target.providerId,
    common,
    headers: outgoing.headers,
    body: outgoing.body,
    timeouts: ports.timeouts,
    totalMs: Math.max(1, timeUntil(ports.clock, endsAt)),
    signal,
    owner: call,
  })
  return {
    exchange,
    expected: {
      target,
      call,
      dialect: call.dialect,
      request: plan.request,
      form: outgoing.form,
      attempt,
      secrets,
    },
  }
}

function timeUntil(clock: Timekeeper, endsAt: number): number {
  return endsAt - clock.elapsed()
}

async function resolve(
  { addresses }: AskPorts,
  target: Target,
  limits: WaitLimits,
): Promise<readonly string[]> {
  try {
    return await waitWithin(addresses.resolve(target.url), limits)
  } catch (thrown) {
    if (!(thrown instanceof AddressRefusedError)) throw thrown
    throw new GatewayError(
      'upstream_error',
      `The address of ${target.name} is not allowed: ${thrown.message}`,
      {
        code: 'address_refused',
      },
    )
  }
}

function isOwnShortage({ isOutOfDescriptors: isOutOfHandles }: AskPorts, thrown: unknown): boolean {
  const hasFailed = thrown instanceof UpstreamFailure && thrown.type === 'connect_failed'
  return hasFailed && isOutOfHandles?.() === true
}

function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof UpstreamFailure && /^connect_/.test(thrown.type)
}

const NOTHING: readonly string[] = []
