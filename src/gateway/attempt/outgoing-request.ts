/**
 * Builds the request for one target: the body, rewritten or translated, the headers, and the form
 * of the answer.
 */
import { createHmac } from 'node:crypto'
import type { Timekeeper } from '../../core/clock.ts'
import { EditedBytes } from '../../core/edited-bytes.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'
import type { Usage } from '../../core/usage.ts'
import { forwardTraceHeaders } from '../../net/headers.ts'
import { type BridgedFeatures, bridgeFeatures } from '../../wire/bridge-features.ts'
import type { Translator } from '../../wire/dialects.ts'
import { PAYER_HEADERS } from '../../wire/header-lists.ts'
import { readStrictness } from '../accept.ts'
import { type AdmittedCall, toOutcome } from '../call.ts'
import type { AttemptTrace } from '../call-observer.ts'
import type { Target } from '../plan/compile-target.ts'
import type { Plan } from '../plan/plan-targets.ts'
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
  type AdaptedRequest,
  knownRefusals,
  nearestEffort,
  withoutMembers,
} from './adapt-members.ts'
import type { AnswerForm } from './begin-answer.ts'
import { type RefusedMembers, STREAM_OPTIONS } from './refused-members.ts'

export interface OutgoingPorts {
  readonly clock: Timekeeper
  /** Undefined: no refusal of a member is remembered. */
  readonly refusedMembers?: RefusedMembers | undefined
  readonly bodyLimits: { readonly maxBodyBytes: number }
}

export interface Attempting {
  readonly call: AdmittedCall
  readonly plan: Plan
  /** End of the gate's timeout for all attempts together, on the clock's `elapsed` scale. */
  readonly endsAt: number
  /** Index in the plan after the last target that was asked. */
  next: number
  /** Created for the first target of another dialect, so the request is decoded at most once. */
  caller: CallerRequest | undefined
  /** True when a target's failure may be temporary, so the same request may succeed later. */
  mayPass: boolean
}

export interface OutgoingRequest {
  /** Headers of this call, in addition to the headers of every request to the target. */
  readonly headers: Record<string, string>
  readonly body: EditedBytes
  readonly form: AnswerForm
}

export function toOutgoing(
  ports: OutgoingPorts,
  input: Attempting,
  target: Target,
  trace: AttemptTrace | undefined,
): OutgoingRequest {
  const { body, form, features } = rewrite(ports, input, target)
  const headers = toOwnHeaders(input, target, trace)
  if (features !== undefined) replaceFeatures(headers, input.call, features)
  return { headers, body, form }
}

interface Rewritten {
  /**
   * Features that replace the features in the caller's header. Undefined: the header is forwarded.
   */
  readonly features?: readonly string[] | undefined
  readonly body: EditedBytes
  readonly form: AnswerForm
}

function rewrite(ports: OutgoingPorts, input: Attempting, target: Target): Rewritten {
  const { call, plan } = input
  const { dialect } = call
  if (target.translator !== undefined) {
    const accepted = plan.request
    const { body: bytes, ...form } = toTranslated(ports, input, target, target.translator)
    const ignored = joinNames(accepted.ignored, form.ignored)
    return { body: new EditedBytes({ bytes }), form: { type: 'translated', ...form, ignored } }
  }
  const { relayed } = target
  if (relayed === undefined)
    throw new GatewayError('internal_error', `Nothing translates ${dialect.id} for ${target.name}.`)
  const changes = adapt(ports, input, target)
  const accepted = changes?.request ?? plan.request
  const {
    body,
    hidesUsage,
    ignored: unknown,
    leftOut = NOTHING,
  } = relayed.rewrite(
    accepted,
    ports.refusedMembers?.has(target, STREAM_OPTIONS) === true
      ? { ...target, countsStreamsOnRequest: false }
      : target,
  )
  const bridged = bridgeHeader(call, target)
  const lost = joinNames(leftOut, bridged?.lost)
  if (lost.length > 0 && readStrictness(call.request.headers)) refuseIgnored(target, lost)
  const ignored = joinNames(joinNames(accepted.ignored, unknown), joinNames(lost, changes?.ignored))
  const adapted = joinNames(bridged?.renamed ?? NOTHING, changes?.adapted)
  const form = { type: 'relayed' as const, ignored, adapted, dialect: relayed, hidesUsage }
  return { body, form, features: bridged?.taken }
}

/** @returns undefined when the gate or the caller wants the request as it is, or nothing differs */
function adapt(
  { refusedMembers }: OutgoingPorts,
  { call, plan }: Attempting,
  target: Target,
): AdaptedRequest | undefined {
  const { adapt: mode } = plan.gate
  if (mode === 'off' || readStrictness(call.request.headers)) return undefined
  const refused = refusedMembers?.of(target) ?? NOTHING
  if (mode === 'retry') return withoutMembers(plan.request, refused)
  const { request } = plan
  const known = [...knownRefusals(target), ...refused]
  return withoutMembers(request, known, nearestEffort(request, target.rules))
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
  ports: OutgoingPorts,
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
  { clock, bodyLimits, refusedMembers }: OutgoingPorts,
  input: Attempting,
  target: Target,
  { inbound, upstream: client }: Extract<Translator, { form: 'chat' }>,
): TranslatedRequest {
  const { call, plan } = input
  const { startedAt, begunAt } = call
  const { prices } = call.admission
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
  const refusesStreamOptions = refusedMembers?.has(target, STREAM_OPTIONS)
  return translate({ caller: input.caller, target, client, facts, isStrict, refusesStreamOptions })
}

function toOwnHeaders(
  { call, plan }: Attempting,
  target: Target,
  trace: AttemptTrace | undefined,
): Record<string, string> {
  const { headers } = call.request
  // Another dialect's target gets only the trace headers, because other headers belong to the
  // caller's dialect.
  const own = target.isTranslated
    ? forwardTraceHeaders(headers)
    : target.passed.request.pick(headers)
  if (call.caller.token !== undefined) for (const name of PAYER_HEADERS) delete own[name]
  if (trace !== undefined) replaceTrace(own, trace)
  const { credential, owner } = target
  if (owner === 'platform' && credential !== undefined)
    ownIdempotencyKey(own, plan.gate.accountId, credential)
  return own
}

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

export function joinNames(
  names: readonly string[],
  more: readonly string[] = NOTHING,
): readonly string[] {
  return more.length === 0 ? names : [...new Set([...names, ...more])]
}

/**
 * Accounts share the platform's credential, so two accounts with the same key must not get each
 * other's answer. The hash uses the credential, so no account can compute another account's key.
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
 * The upstream continues this attempt's trace. A `tracestate` without a valid parent is dropped.
 */
function replaceTrace(forwarded: Record<string, string>, trace: AttemptTrace): void {
  delete forwarded.tracestate
  Object.assign(forwarded, trace.headers)
}

const NOTHING: readonly string[] = []
