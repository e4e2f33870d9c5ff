/** Stage 7, settle: releases the reservations and records the usage, exactly once. */
import type { CallCredential, CallOutcome, CallRecord } from '../../core/call.ts'
import { callsUnderWay } from '../../core/calls-under-way.ts'
import type { Stopwatch } from '../../core/clock.ts'
import {
  type Cost,
  FREE_COST,
  NO_USES,
  NOTHING_SENT,
  type OtherPrice,
  type ServedAs,
  type ToolUses,
  UNKNOWN_COST,
  USUAL,
} from '../../core/cost.ts'
import { formOfDialect } from '../../core/dialects.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { GateId } from '../../core/ids.ts'
import { addCosts } from '../../core/money.ts'
import { MAX_TOKENS_OF_CALL, toTrueUsage, type Usage } from '../../core/usage.ts'
import { type Admission, type AdmittedCall, type AttemptLog, toAttemptDetails } from '../call.ts'
import type { AttemptRecord, CallObserver } from '../call-observer.ts'
import { countsForQuota } from '../check-quota.ts'
import type { UsualOutput } from '../estimate-output.ts'
import { estimateTextTokens } from '../estimate-tokens.ts'
import type { Ledger, PricedRecord, Prices, Spent } from '../ports.ts'
import { atLeastOneEach } from '../surcharges.ts'
import type { TurnTargets } from '../turn-targets.ts'
import type { SeenReasoning } from './seen-reasoning.ts'
import { toSentGateId } from './sent-gate-id.ts'

export interface CallResult {
  readonly outcome: CallOutcome
  /** The HTTP status of the caller's answer, sent or not. */
  readonly status: number
  readonly errorKind?: ErrorKind
  /** The code of the gateway's own refusal, when no upstream was sent anything. */
  readonly refusalCode?: string | undefined
  /** The limit that refused the call, as `GatewayError.limit`. */
  readonly refusedBy?: string | undefined
  readonly usage?: Usage | null
  /**
   * Bytes of text relayed since the last usage report. Set when unreported usage has to be
   * estimated.
   */
  readonly unreportedBytes?: number | undefined
  /** Uses of the provider's own tools. Undefined: the answer reports none. */
  readonly toolUses?: ToolUses | undefined
  /** The model that answered, by its name at the upstream. Undefined: not reported. */
  readonly model?: string | undefined
  /**
   * When the client left a stream, on the clock's `elapsed` scale. Undefined: the client stayed.
   */
  readonly leftAt?: number | undefined
}

export const UNKNOWN_GATE = '(unknown)' as GateId

export interface SettlePorts {
  readonly ledger: Ledger
  readonly clock: Stopwatch
  readonly reasoning?: SeenReasoning | undefined
  readonly usualOutput?: UsualOutput | undefined
  readonly turns?: TurnTargets | undefined
  readonly observer?: CallObserver | undefined
}

/** Resolves once the call is in the journal. Later calls have no effect. */
export function settle(ports: SettlePorts, call: AdmittedCall, result: CallResult): Promise<void> {
  call.settled ??= settleOnce(ports, call, result)
  return call.settled
}

function settleOnce(ports: SettlePorts, call: AdmittedCall, result: CallResult): Promise<void> {
  const { caller, accepted, gate, admission, attribution, startedAt, begunAt } = call
  const { list: attempts, target, firstByteAt } = call.attempts
  const endedAtMs = ports.clock.elapsed()
  const durationMs = Math.round((result.leftAt ?? endedAtMs) - begunAt)
  const { accountId } = caller
  const { outcome } = result
  const used = listUsed({
    asked: call,
    target,
    reported: toTrueUsage(result.usage),
    unreportedBytes: result.unreportedBytes,
    toolUses: result.toolUses,
    model: result.model,
    attempts,
  })
  const usage = withoutBilling(sumUsed(used))
  if (usage !== null && usage.reasoningTokens > 0 && target !== null)
    ports.reasoning?.note(accountId, target)
  const { teaches } = admission
  // Cancelled calls are not a sample of output length.
  if (teaches !== undefined && usage !== null && !isNothing(usage) && outcome === 'succeeded')
    ports.usualOutput?.note(teaches, usage.outputTokens)
  const cost = priceUsed(admission.prices, used, {
    accountId,
    target,
    usage,
    startedAt,
    outcome,
    asked: call,
  })
  if (call.turn !== undefined && target !== null && outcome === 'succeeded')
    ports.turns?.note(call.turn.id, target, call.turn.isKept)
  const record: CallRecord = {
    id: call.id,
    accountId,
    keyId: caller.keyId,
    gateId: gate?.id ?? UNKNOWN_GATE,
    dialect: call.dialect.id,
    stream: accepted.stream,
    target,
    attempts: attempts.length,
    outcome,
    status: result.status,
    errorKind: result.errorKind ?? null,
    refusalCode: result.refusalCode,
    refusedBy: result.refusedBy,
    startedAt,
    firstByteMs: firstByteAt === null ? null : Math.round(firstByteAt - begunAt),
    durationMs,
    usage,
    credential: payerOf(call.attempts, used),
    attemptDetails: toAttemptDetails(ports.clock, attempts, {
      outcome,
      begunAt,
      target,
      errorKind: result.errorKind ?? null,
    }),
    cost,
    isUsageEstimated:
      cost?.status === 'exact' || usage === null ? undefined : isUsageEstimated(call, used),
    sentGateId: gate === undefined ? toSentGateId(accepted.gateId) : undefined,
    user: attribution?.user,
    session: attribution?.session,
    agent: attribution?.agent,
    parentAgent: attribution?.parentAgent,
    tags: attribution?.tags,
    steeredBy: call.steeredBy,
  }
  call.record = record
  call.body.release()
  callsUnderWay.end()
  call.fused?.noteCost(cost?.nanoUsd ?? 0)
  ports.observer?.finish(record, attempts, call.trace)
  const written = ports.ledger.record(record)
  // Other nodes learn of usage from the ticket and must not count usage that this process can lose,
  // so the record is written first.
  const settleTicket = () => admission.ticket.settle(toSpent(record, endedAtMs))
  written.then(settleTicket, settleTicket)
  return written
}

/**
 * The platform pays for its own target even if another target answered. The account pays alone when
 * only its own targets used anything.
 */
function payerOf(
  { credential }: Pick<AttemptLog, 'credential'>,
  used: readonly UsedPart[],
): CallCredential | null {
  let abandoned = 0
  for (const { payer } of used) {
    if (payer === 'platform') return 'platform'
    if (payer === 'own') abandoned += 1
  }
  return abandoned > 0 && abandoned === used.length ? 'own' : credential
}

function toSpent(record: CallRecord, endedAtMs: number): Spent {
  const { usage, target, credential, firstByteMs, cost } = record
  return {
    // Without an answer nothing was used; without a report the usage is unknown.
    tokens:
      usage === null ? (firstByteMs === null ? 0 : null) : usage.inputTokens + usage.outputTokens,
    cost: cost ?? UNKNOWN_COST,
    countsForQuota: countsForQuota(target, credential),
    endedAtMs,
  }
}

interface UsedPart {
  /** `provider/model`; null when the gateway answered itself. */
  readonly target: string | null
  /** Null: unknown; only uses of tools were seen. */
  readonly usage: Usage | null
  readonly isEstimated: boolean
  readonly toolUses?: ToolUses | undefined
  readonly model?: string | undefined
  /** Set for an abandoned target. Undefined: the payer of the record's target. */
  readonly payer?: CallCredential
}

type SettledCall = Pick<AdmittedCall, 'dialect' | 'accepted' | 'admission' | 'attempts'>

interface EndedCall {
  readonly asked: SettledCall
  readonly target: string | null
  readonly reported: Usage | null
  readonly unreportedBytes: number | undefined
  readonly toolUses: ToolUses | undefined
  readonly model: string | undefined
  readonly attempts: readonly AttemptRecord[]
}

/** Empty when usage is unknown and must not be estimated. */
function listUsed(call: EndedCall): readonly UsedPart[] {
  if (!formOfDialect(call.asked.dialect.id).isCharged) return []
  const parts: UsedPart[] = []
  const { target, reported, unreportedBytes, toolUses = NO_USES, model, asked } = call
  if (unreportedBytes !== undefined) parts.push(withEstimate(call, unreportedBytes))
  else if (reported !== null || Object.keys(toolUses).length > 0)
    parts.push({ target, usage: reported, isEstimated: false, toolUses, model })
  // A call that its upstreams failed is never charged from an estimate.
  const isAnswered = parts.length > 0
  for (const attempt of call.attempts) {
    const { isGivenUp, hasTimedOut } = attempt
    if (isGivenUp) parts.push(abandoned(asked, attempt))
    else if (hasTimedOut && isAnswered) parts.push(timedOut(asked, attempt))
  }
  return parts
}

/** The upstream was working until the attempt was given up, so its output is estimated. */
function abandoned(call: SettledCall, attempt: AttemptRecord): UsedPart {
  const outputTokens = unseenTokens(call, attempt)
  return {
    ...timedOut(call, attempt),
    usage: { ...onlyInput(call.admission.inputTokens), outputTokens },
    toolUses: unseenUses(call),
  }
}

/** The upstream may have read the request, so only the input is charged. */
function timedOut(call: SettledCall, { target, isPlatforms }: AttemptRecord): UsedPart {
  const usage = onlyInput(call.admission.inputTokens)
  return { target, usage, isEstimated: true, payer: isPlatforms ? 'platform' : 'own' }
}

/**
 * Bytes of unseen text per second. Models write two to three times as fast as this rate, so the
 * estimate does not overcharge.
 */
const UNSEEN_BYTES_PER_SECOND = 200
/** A model's initial silence, in which it writes nothing. */
const USUAL_SILENCE_MS = 1_000

/**
 * The bytes of text that a model wrote without showing them, estimated from the model's silence.
 */
export function unseenBytesIn(silentMs: number): number {
  return Math.max(0, Math.round(((silentMs - USUAL_SILENCE_MS) / 1_000) * UNSEEN_BYTES_PER_SECOND))
}

function unseenTokens(
  { admission: { outputCap = Number.POSITIVE_INFINITY } }: SettledCall,
  { writesUnseen, begunAt, failedAt }: AttemptRecord,
): number {
  if (!writesUnseen || failedAt === null) return 0
  return Math.min(outputCap, estimateTextTokens(unseenBytesIn(failedAt - begunAt)))
}

/** A stream shows a tool use before it runs; a complete answer shows nothing until its end. */
function unseenUses(call: SettledCall): ToolUses {
  return call.accepted.stream ? NO_USES : atLeastOneEach(call.admission.tools)
}

function sumUsed(parts: readonly UsedPart[]): Usage | null {
  const first = parts[0]
  if (first === undefined) return null
  let { usage } = first
  for (let at = 1; at < parts.length; at += 1) {
    const more = parts[at]?.usage
    usage =
      usage === null
        ? (more ?? null)
        : {
            ...usage,
            inputTokens: addTokens(usage.inputTokens, more?.inputTokens),
            outputTokens: addTokens(usage.outputTokens, more?.outputTokens),
          }
  }
  return usage
}

/** The cost was computed from the bill already, so records do not store it. */
function withoutBilling(usage: Usage | null): Usage | null {
  if (usage === null || usage.billing === undefined) return usage
  const { billing: _, ...counts } = usage
  return counts
}

/**
 * A report counts unchanged, and text after the report is added. Without a report, the input is
 * estimated too.
 */
function withEstimate(call: EndedCall, bytes: number): UsedPart {
  const { reported, asked, target, toolUses, model } = call
  const written = estimateTextTokens(bytes)
  if (reported === null) {
    const usage = { ...onlyInput(asked.admission.inputTokens), outputTokens: written }
    return { target, usage, isEstimated: true, toolUses, model }
  }
  if (written === 0) return { target, usage: reported, isEstimated: false, toolUses, model }
  const outputTokens = addTokens(reported.outputTokens, written)
  return { target, usage: { ...reported, outputTokens }, isEstimated: true, toolUses, model }
}

/** An estimate must not turn a report into an unsafe number. */
function addTokens(reported: number, estimated = 0): number {
  return Math.min(MAX_TOKENS_OF_CALL, reported + estimated)
}

function onlyInput(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
}

/** Whether the cost is an estimate at any price, as far as `used` shows. */
function isUsageEstimated({ admission }: SettledCall, used: readonly UsedPart[]): boolean {
  return used.length > 1 || admission.otherPrices.length > 0 || !used.every(isReported)
}

/** Rows only store token counts, and no price for an unusual service. */
function isReported({ usage, isEstimated }: UsedPart): boolean {
  if (isEstimated || usage === null || usage.billing !== undefined) return false
  const { hasCutParts, audio, cacheWriteHourTokens, served } = usage
  const isPlain =
    hasCutParts === undefined && audio === undefined && cacheWriteHourTokens === undefined
  return isPlain && (served === undefined || SERVED.every((kind) => isUsual(served, kind)))
}

const SERVED = Object.keys(USUAL) as readonly (keyof ServedAs)[]

function isUsual(served: ServedAs, kind: keyof ServedAs): boolean {
  return served[kind] === undefined || served[kind] === USUAL[kind]
}

interface UnpricedCall extends PricedRecord {
  readonly asked: SettledCall
}

function priceUsed(
  prices: Prices | undefined,
  used: readonly UsedPart[],
  call: UnpricedCall,
): Cost | undefined {
  if (!formOfDialect(call.asked.dialect.id).isCharged) return FREE_COST
  if (prices === undefined) return undefined
  const first = used[0]
  if (first === undefined && hasSentNothing(call.asked)) return NOTHING_SENT
  if (first === undefined)
    return prices.priceOf({ ...call, ownedPrices: ownedPricesOf(call.asked, call.target) })
  const others = call.asked.admission.otherPrices
  return used.length === 1 && first.target === call.target
    ? pricePart(prices, first, call, others)
    : priceParts(prices, used, call, others)
}

function hasSentNothing({ attempts: { list } }: SettledCall): boolean {
  return list.length > 0 && list.every(({ isSent }) => !isSent)
}

function priceParts(
  prices: Prices,
  used: readonly UsedPart[],
  call: UnpricedCall,
  otherPrices: readonly OtherPrice[],
): Cost | undefined {
  const costs = used.map((part) => pricePart(prices, part, call, otherPrices))
  return costs.some((cost) => cost === undefined) ? undefined : sumCosts(costs as readonly Cost[])
}

function pricePart(
  prices: Prices,
  { target, usage, isEstimated, toolUses, model: answeredBy }: UsedPart,
  { accountId, startedAt, outcome, asked }: UnpricedCall,
  otherPrices: readonly OtherPrice[],
): Cost | undefined {
  const tools = isNothing(usage) ? NO_TOOLS : asked.admission.tools
  const call = {
    accountId,
    target,
    usage,
    startedAt,
    outcome,
    ownedPrices: ownedPricesOf(asked, target),
    answeredBy,
    isEstimated,
    otherPrices,
    estimateAs: asked.admission.estimateAs,
  }
  return tools.length === 0 && (toolUses === undefined || toolUses === NO_USES)
    ? prices.priceOf(call)
    : prices.priceOf(isTranslated(asked, target) ? call : { ...call, tools, toolUses })
}

/**
 * True for a turn that continues a program: an earlier call paid for the tool, and no model wrote
 * anything.
 */
function isNothing(usage: Usage | null): boolean {
  return usage !== null && usage.inputTokens + usage.outputTokens === 0
}

const NO_TOOLS: Admission['tools'] = []

/**
 * The prices at the time of the attempt, so changing or deleting the model does not affect calls
 * that wait for a price.
 */
function ownedPricesOf({ attempts }: SettledCall, target: string | null) {
  for (const attempt of attempts.list) if (attempt.target === target) return attempt.ownedPrices
  return undefined
}

/**
 * True when a target was asked in another dialect. Such a translation drops the provider's tools.
 */
function isTranslated({ attempts }: SettledCall, target: string | null): boolean {
  return attempts.list.some((attempt) => attempt.target === target && attempt.isTranslated)
}

/** Marks a cost that includes targets besides the record's target. */
const SUM_MARK = '+hedge'

function sumCosts(costs: readonly Cost[]): Cost {
  const known = costs.filter((cost) => cost.nanoUsd !== null)
  const source = known[0]?.source
  if (source === undefined) return UNKNOWN_COST
  const nanoUsd = known.reduce((sum, cost) => addCosts(sum, cost.nanoUsd ?? 0), 0)
  return { nanoUsd, status: 'estimated', source: `${source ?? ''}${SUM_MARK}` }
}
