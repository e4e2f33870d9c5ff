/**
 * One attempt at one target: send, wait for the beginning of a usable answer, and record the
 * target's health.
 */

import { createHmac } from 'node:crypto'
import type { AttemptFailure } from '../../core/call.ts'
import type { Timekeeper } from '../../core/clock.ts'
import { formOfDialect } from '../../core/dialects.ts'
import { EditedBytes } from '../../core/edited-bytes.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'
import type { Usage } from '../../core/usage.ts'
import { type AddressGuard, AddressRefusedError } from '../../net/address-guard.ts'
import type { Exchange, ExchangeTimeouts, Upstream } from '../../net/exchange.ts'
import { type CommonHeaders, forwardTraceHeaders } from '../../net/headers.ts'
import type { LeaveSignal } from '../../net/messages.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import { type WaitLimits, waitWithin } from '../../net/wait-within.ts'
import { type BridgedFeatures, bridgeFeatures } from '../../wire/bridge-features.ts'
import type { Translator } from '../../wire/dialects.ts'
import { readStrictness } from '../accept.ts'
import {
  type AdmittedCall,
  type AttemptLog,
  beginAttempt,
  giveUpAttempt,
  hasRefused,
  toOutcome,
} from '../call.ts'
import type { AttemptRecord, AttemptTrace } from '../call-observer.ts'
import type { Target } from '../plan/compile-target.ts'
import type { Plan } from '../plan/plan-targets.ts'
import type { Credentials, Prices, UnusableTargets } from '../ports.ts'
import type { SeenReasoning } from '../settle/seen-reasoning.ts'
import {
  CallerRequest,
  nameFeatures,
  refuseIgnored,
  type TranslatedRequest,
  translate,
} from '../translate/translate.ts'
import { translateEmbeddings } from '../translate/translate-embeddings.ts'
import { translateFim } from '../translate/translate-fim.ts'
import {
  type AnswerExpectation,
  type AnswerForm,
  type BegunAnswer,
  beginAnswer,
} from './begin-answer.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import { isOurEnd, isSilence, outOfHandles, toFailure } from './failures.ts'
import { askedDelayMs, isTargetsFault, mayPass } from './retry.ts'
import { signRequest } from './sign-request.ts'
import { refusesStreamOptions, type UncountedStreams } from './uncounted-streams.ts'

export interface AskPorts {
  readonly clock: Timekeeper
  readonly upstream: Upstream
  readonly timeouts: ExchangeTimeouts
  readonly credentials: Credentials
  /** Undefined: no call's cost is known. */
  readonly prices?: Prices | undefined
  readonly breakers: CircuitBreakers
  /** Undefined: unusable targets are not reported. */
  readonly unusable?: UnusableTargets | undefined
  /** Undefined: nothing is remembered, and no target is retried without `stream_options`. */
  readonly uncounted?: UncountedStreams | undefined
  /** Undefined: only the catalog says which models reason. */
  readonly reasoning?: SeenReasoning | undefined
  readonly addresses: Pick<AddressGuard, 'resolve' | 'locate' | 'avoid'>
  readonly bodyLimits: { readonly maxBodyBytes: number }
  /** Whether this process has no file descriptor left for a connection. Undefined: unknown. */
  readonly isOutOfHandles?: (() => boolean) | undefined
}

/** State shared by the attempts of one call. */
export interface Attempting {
  readonly call: AdmittedCall
  readonly plan: Plan
  /** End of the gate's timeout for all attempts together, on the clock's `elapsed` scale. */
  readonly endsAt: number
  /** Index in the plan after the last target that was asked. */
  next: number
  /**
   * Created for the first target of another dialect; the request is decoded once for all of them.
   */
  caller: CallerRequest | undefined
  /** Whether a target's failure may be temporary, so that the same request may succeed later. */
  mayPass: boolean
}

export interface Attempted {
  readonly target: Target
  readonly answer: BegunAnswer
  /** Members of the request that had no effect with this target. */
  readonly ignored: readonly string[]
  /** Members of the request that were changed for this target without loss. */
  readonly adapted: readonly string[]
}

/**
 * @param signal aborts when this attempt is no longer needed
 * @throws GatewayError for the target's failure; UpstreamFailure `cancelled` when `signal` was
 * aborted
 */
export function askTarget(
  ports: AskPorts,
  input: Attempting,
  target: Target,
  signal: LeaveSignal,
): Promise<Attempted> {
  const { uncounted } = ports
  const { request } = input.plan
  const asked = askOnce(ports, input, target, signal)
  if (!request.stream || uncounted === undefined || uncounted.has(target)) return asked
  return asked.catch((thrown: unknown) => {
    if (!refusesStreamOptions(thrown, request)) throw thrown
    uncounted.note(target)
    return askOnce(ports, input, target, signal)
  })
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
    breakers.noteAnswered(target.healthKey, clock.elapsed() - attempt.askedAt)
    ports.unusable?.noteUsable(plan.gate.accountId, target.name)
    const { ignored, adapted = NOTHING } = expected.form
    const lost = answer.type === 'whole' ? answer.ignored : undefined
    return { target, answer, ignored: join(ignored, lost), adapted }
  } catch (raised) {
    exchange?.close()
    const thrown = isOurShortage(ports, raised) ? outOfHandles(raised) : raised
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
      breakers.noteFailed(target.healthKey, askedDelayMs(failure), failure)
    else breakers.noteAbandoned(target.healthKey)
    throw failure
  }
}

/** A provider's own code may be any text. */
const CODE = /^[\w.-]{1,64}$/

function toAttemptFailure({ kind, code }: GatewayError): AttemptFailure {
  const isReason = code !== null && code !== kind && CODE.test(code)
  return { kind, code: isReason ? code : null }
}

/** Vectors are not tokens that a model writes. */
function writesUnseen(
  { reasoning }: AskPorts,
  { dialect, accepted, caller }: AdmittedCall,
  { name, traits }: Target,
): boolean {
  if (!formOfDialect(dialect.id).writesText) return false
  if (!accepted.stream || traits.reasoning !== undefined) return true
  return reasoning?.has(caller.accountId, name) === true
}

/** Records the target in the call's record. */
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

/** Returns a promise only when a signature or a lookup is needed first. */
function openExchange(
  ports: AskPorts,
  input: Attempting,
  one: OneAttempt,
): OpenedExchange | Promise<OpenedExchange> {
  const { target } = one
  const outgoing = toOutgoing(ports, input, target)
  if (timeUntil(ports.clock, input.endsAt) <= 0)
    throw new GatewayError(
      'upstream_timeout',
      `The time limit was reached before ${target.name} could be asked.`,
    )
  const headers = toOwnHeaders(input, one)
  if (outgoing.features !== undefined) replaceFeatures(headers, input.call, outgoing.features)
  return target.signing === undefined && !target.isGuarded
    ? open(ports, input, one, { outgoing, common: target.common, headers })
    : openChecked(ports, input, one, { outgoing, headers })
}

/** The headers of this call, besides those of every request to the target. */
function toOwnHeaders(
  { call, plan }: Attempting,
  { target, attempt }: OneAttempt,
): Record<string, string> {
  const { headers } = call.request
  // A client's headers belong to its dialect; trace headers belong to none.
  const own = target.isTranslated
    ? forwardTraceHeaders(headers)
    : target.passed.request.pick(headers)
  if (attempt.trace !== undefined) replaceTrace(own, attempt.trace)
  const { credential, owner } = target
  if (owner === 'platform' && credential !== undefined)
    ownIdempotencyKey(own, plan.gate.accountId, credential)
  return own
}

/** @param features accepted by the target, in its own names */
function replaceFeatures(
  headers: Record<string, string>,
  { dialect }: AdmittedCall,
  features: readonly string[],
): void {
  const header = dialect.inboundCodec?.featureHeader
  if (header === undefined) return
  delete headers[header]
  if (features.length > 0) headers[header] = features.join()
}

interface OutgoingRequest {
  /**
   * Features that replace those the caller's header asks for. Undefined: the header is forwarded.
   */
  readonly features?: readonly string[] | undefined
  readonly body: EditedBytes
  /** The form of the answer. */
  readonly form: AnswerForm
}

interface PreparedRequest {
  readonly outgoing: OutgoingRequest
  readonly headers: Record<string, string>
}

/** Signs the request, and checks the addresses of its host. */
async function openChecked(
  ports: AskPorts,
  input: Attempting,
  one: OneAttempt,
  { outgoing, headers: own }: PreparedRequest,
): Promise<OpenedExchange> {
  const { target, signal } = one
  const leftMs = () => timeUntil(ports.clock, input.endsAt)
  // A signature covers all headers and replaces the key.
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
  return open(ports, input, one, { outgoing, common, headers, secrets, addresses })
}

function open(
  ports: AskPorts,
  { call, plan, endsAt }: Attempting,
  { target, signal, attempt }: OneAttempt,
  prepared: PreparedRequest & {
    readonly common: CommonHeaders | undefined
    readonly secrets?: readonly string[] | undefined
    readonly addresses?: readonly string[] | undefined
  },
): OpenedExchange {
  const { outgoing, common, headers, secrets, addresses } = prepared
  const exchange = ports.upstream.open({
    url: target.url,
    addresses,
    group: target.isGuarded ? 'owned' : target.providerId,
    common,
    headers,
    body: outgoing.body,
    timeouts: ports.timeouts,
    totalMs: Math.max(1, timeUntil(ports.clock, endsAt)),
    signal,
    owner: call.caller.owner,
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

/** @param endsAt on the clock's `elapsed` scale */
function timeUntil(clock: Timekeeper, endsAt: number): number {
  return endsAt - clock.elapsed()
}

/** @throws GatewayError when the address is not allowed, before any connection; UpstreamFailure */
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

function isOurShortage({ isOutOfHandles }: AskPorts, thrown: unknown): boolean {
  const hasFailed = thrown instanceof UpstreamFailure && thrown.type === 'connect_failed'
  return hasFailed && isOutOfHandles?.() === true
}

function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof UpstreamFailure && /^connect_/.test(thrown.type)
}

function toOutgoing(ports: AskPorts, input: Attempting, target: Target): OutgoingRequest {
  const { call, plan } = input
  const { dialect } = call
  const accepted = plan.request
  if (target.translator !== undefined) {
    const { body: bytes, ...form } = toTranslated(ports, input, target, target.translator)
    const ignored = join(accepted.ignored, form.ignored)
    return { body: new EditedBytes({ bytes }), form: { type: 'translated', ...form, ignored } }
  }
  const { relayed } = target
  if (relayed === undefined)
    throw new GatewayError('internal_error', `Nothing translates ${dialect.id} for ${target.name}.`)
  const {
    body,
    hidesUsage,
    ignored: unknown,
    leftOut = NOTHING,
  } = relayed.rewrite(
    accepted,
    ports.uncounted?.has(target) === true ? { ...target, countsStreamsOnRequest: false } : target,
  )
  const bridged = bridgeHeader(call, target)
  const lost = join(leftOut, bridged?.lost)
  if (lost.length > 0 && readStrictness(call.request.headers)) refuseIgnored(target, lost)
  const ignored = join(join(accepted.ignored, unknown), lost)
  const adapted = bridged?.renamed
  const form = { type: 'relayed' as const, ignored, adapted, dialect: relayed, hidesUsage }
  return { body, form, features: bridged?.taken }
}

/** @returns undefined when the target supports the dialect's own header */
function bridgeHeader(
  { dialect, request }: AdmittedCall,
  { features }: Target,
): BridgedFeatures | undefined {
  const header = dialect.inboundCodec?.featureHeader
  if (features === undefined || header === undefined) return undefined
  return nameFeatures(header, bridgeFeatures(request.headers.get(header), features))
}

function toTranslated(
  ports: AskPorts,
  input: Attempting,
  target: Target,
  translator: Translator,
): TranslatedRequest {
  const { id: callId, startedAt: startedAtMs } = input.call
  const isStrict = readStrictness(input.call.request.headers)
  const accepted = input.plan.request
  switch (translator.form) {
    case 'embeddings':
      return translateEmbeddings({ accepted, target, codec: translator.upstream, isStrict })
    case 'fim':
      return translateFim({
        ...{ accepted, target, dialect: translator.inbound, codec: translator.upstream },
        ...{ isStrict, callId, startedAtMs },
      })
    case 'chat':
      return translateChat(ports, input, target, translator)
  }
}

function translateChat(
  { clock, prices, bodyLimits, uncounted }: AskPorts,
  input: Attempting,
  target: Target,
  { inbound, upstream: client }: Extract<Translator, { form: 'chat' }>,
): TranslatedRequest {
  const { call, plan } = input
  const { startedAt, begunAt } = call
  const isStrict = readStrictness(call.request.headers)
  input.caller ??= new CallerRequest(inbound, plan.request, {
    maxBodyBytes: bodyLimits.maxBodyBytes,
    headers: call.request.headers,
  })
  const { accountId, id: gateId } = plan.gate
  const { name, ownedPrices } = target
  const priced = {
    accountId,
    target: name,
    startedAt,
    outcome: 'succeeded' as const,
    ...(ownedPrices === undefined ? {} : { ownedPrices }),
  }
  const facts = {
    callId: call.id,
    gateId,
    startedAtMs: startedAt,
    outcome: () => toOutcome(clock, { begunAt, attempts: call.attempts.list }),
    ...(prices === undefined
      ? {}
      : {
          priceOf: (usage: Usage, answeredBy: string | undefined) =>
            prices.priceOf({ ...priced, usage, answeredBy }),
        }),
  }
  const refusesStreamOptions = uncounted?.has(target)
  return translate({ caller: input.caller, target, client, facts, isStrict, refusesStreamOptions })
}

function join(names: readonly string[], more: readonly string[] = NOTHING): readonly string[] {
  return more.length === 0 ? names : [...new Set([...names, ...more])]
}

/**
 * Accounts share the provider account behind the platform's credential, so two that choose the same
 * key must not get each other's answer. Keyed with the credential, so that an account cannot
 * compute another one's key.
 */
function ownIdempotencyKey(
  headers: Record<string, string>,
  accountId: AccountId,
  credential: Secret,
): void {
  const given = headers['idempotency-key']
  if (given === undefined) return
  const keyed = createHmac('sha256', credential.reveal())
  headers['idempotency-key'] = keyed.update(`${accountId}\n${given}`).digest('hex')
}

/**
 * The upstream's work is part of this attempt. A `tracestate` without a valid parent is dropped.
 */
function replaceTrace(forwarded: Record<string, string>, trace: AttemptTrace): void {
  delete forwarded.tracestate
  Object.assign(forwarded, trace.headers)
}

const NOTHING: readonly string[] = []
