/**
 * Stage 6, relay: sends the answer on byte for byte at the client's pace, and settles the call
 * before the last byte.
 */

import type { Timekeeper } from '../../core/clock.ts'
import type { GatewayError } from '../../core/errors.ts'
import { fieldLine, type HeadLines, type HeadWriter } from '../../net/head-writer.ts'
import { upstreamRequestId } from '../../net/headers.ts'
import { WholeAnswer } from '../../net/messages.ts'
import { type AnswerSink, DirectSource, HeadedStream } from '../../net/streamed-answer.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import type { TapOutput } from '../../wire/dialect.ts'
import { encodeName, showNames } from '../../wire/unread.ts'
import type { Attempted } from '../attempt/ask-target.ts'
import type { BegunAnswer } from '../attempt/begin-answer.ts'
import type { CircuitBreakers } from '../attempt/circuit-breakers.ts'
import { isGuaranteedEnd, isOurEnd, toFailure, unusableAnswer } from '../attempt/failures.ts'
import { isTargetsFault } from '../attempt/retry.ts'
import { shownOf } from '../attempt/sent-secrets.ts'
import { type AdmittedCall, type AttemptLog, type Call, spendHeadersOf } from '../call.ts'
import type { Target } from '../plan/compile-target.ts'
import { type CallResult, type SettlePorts, settle } from '../settle/settle.ts'
import { toUsageHeaders } from '../settle/usage-headers.ts'
import { KeepAlive, type KeepAlivePorts } from './keep-alive.ts'
import {
  endOf,
  failedResult,
  largeResult,
  leftResult,
  newSeen,
  type Relayed,
} from './stream-result.ts'

/** Maximum wait for an upstream to close after the last event that counts, in milliseconds. */
const GRACE_AFTER_END_MS = 1_000

/**
 * In milliseconds. Many clients leave with the last word, and the exact usage follows immediately,
 * so the upstream is read a little longer.
 */
const READ_ON_MS = 250

/**
 * Time for a failure event to reach the client before the connection is cut, in milliseconds. A
 * slower client may only see the reset.
 */
const FLUSH_BEFORE_CUT_MS = 250
/** Time for a failure event when the call must end within a guaranteed time, in milliseconds. */
const FLUSH_BEFORE_PROMISED_CUT_MS = 50

export interface RelayPorts extends KeepAlivePorts, SettlePorts {
  readonly clock: Timekeeper
  readonly breakers: CircuitBreakers
}

/** @throws GatewayError (rejects) `unavailable` when a complete answer could not be recorded */
export function relayAnswer(
  ports: RelayPorts,
  call: AdmittedCall,
  attempted: Attempted,
): HeadedStream | Promise<WholeAnswer> {
  const { answer, target } = attempted
  const forwarded = toForwarded(call, attempted)
  const usual = usualHeadersOf(
    target,
    forwarded['content-type'],
    answer.type === 'events' ? NOT_KEPT : undefined,
  )
  const headers = { forwarded, usual, attempted }
  if (answer.type === 'whole') return relayWhole(ports, call, answer, headers)
  return relayInPieces(ports, { call, target, answer, seen: newSeen() }, headers)
}

interface RelayedHeaders {
  readonly forwarded: Readonly<Record<string, string>>
  /** Headers shared by nearly all answers of the target. Copy, do not modify. */
  readonly usual: UsualHeaders
  readonly attempted: Pick<Attempted, 'ignored' | 'adapted'>
}

async function relayWhole(
  ports: RelayPorts,
  call: AdmittedCall,
  answer: Extract<BegunAnswer, { type: 'whole' }>,
  headers: RelayedHeaders,
): Promise<WholeAnswer> {
  const { status, body, usage, hasFailed, unreportedBytes, toolUses, model } = answer
  const reported = { status, usage, toolUses, model }
  const result: CallResult = hasFailed
    ? { outcome: 'failed', errorKind: 'upstream_error', ...reported }
    : { outcome: 'succeeded', unreportedBytes, ...reported }
  await settle(ports, call, result)
  if (call.gate?.usageHeaders === true) Object.assign(call.headers, toUsageHeaders(call.record))
  setSpendHeaders(call)
  const { lines, more } = toLines(headers, call)
  return new WholeAnswer(status, lines, body, more)
}

function relayInPieces(ports: RelayPorts, relayed: Relayed, headers: RelayedHeaders): HeadedStream {
  const source = new DirectSource(
    (client) => relayPieces(ports, relayed, client),
    () => giveUp(ports, relayed),
  )
  setSpendHeaders(relayed.call)
  const { lines, more } = toLines(headers, relayed.call)
  return new HeadedStream(relayed.answer.status, lines, source, more)
}

function relayPieces(ports: RelayPorts, relayed: Relayed, client: AnswerSink): Promise<void> {
  const { answer } = relayed
  return answer.type === 'large'
    ? relayLarge(ports, { ...relayed, answer }, client)
    : relayEvents(ports, { ...relayed, answer }, client)
}

const EVENT_STREAM = 'text/event-stream'

function setSpendHeaders({ headers, dialect, admission }: AdmittedCall): void {
  const ofSpend = spendHeadersOf(dialect, admission)
  if (ofSpend !== undefined) Object.assign(headers, ofSpend)
}

/** A translated answer is the gateway's own, so no upstream header is forwarded. */
function toForwarded(
  { dialect, admission }: AdmittedCall,
  { target, answer }: Attempted,
): Record<string, string> {
  const { passed, isTranslated } = target
  const isUnderBudget = spendHeadersOf(dialect, admission) !== undefined
  const passing = isUnderBudget ? passed.underBudget : passed.answer
  const forwarded = isTranslated ? {} : passing.pick(answer.headers)
  // The answer was read as this type even if the upstream names another type, and clients need the
  // header.
  const named = forwarded['content-type']
  if (answer.type !== 'events') forwarded['content-type'] ??= 'application/json'
  else if (named?.toLowerCase().startsWith(EVENT_STREAM) !== true)
    forwarded['content-type'] = `${EVENT_STREAM}; charset=utf-8`
  const id = upstreamRequestId(answer.headers)
  if (id !== undefined) forwarded['x-gatehouse-upstream-request-id'] = id
  return forwarded
}

/** No cache or proxy may hold an event stream back. */
export const NOT_KEPT = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

/** Stops reading and settles the call, in any state of the answer. Idempotent. */
export function giveUp(ports: SettlePorts, relayed: Relayed): Promise<void> {
  relayed.answer.exchange.close()
  // Without an earlier end, the client has left.
  return settleQuietly(ports, relayed.call, leftResult(ports, relayed))
}

export async function relayEvents(
  ports: RelayPorts,
  relayed: Relayed<Extract<BegunAnswer, { type: 'events' }>>,
  client: AnswerSink,
): Promise<void> {
  const { call, target, answer, seen } = relayed
  const { exchange, tap } = answer
  call.body.release()
  // The server reports when its client leaves; for a caller in this process, only the signal does.
  exchange.outliveSignal(READ_ON_MS)
  client.whenLeft(() => {
    seen.leftAt = ports.clock.elapsed()
    exchange.cancelWithin(READ_ON_MS)
  })
  const keepAlive = new KeepAlive(ports, client)
  const heldUp = new HeldUp(ports.clock)
  const noteText = () => {
    if (tap.unreportedBytes > 0)
      seen.firstText = { at: ports.clock.elapsed(), bytes: tap.unreportedBytes }
  }
  noteText()
  let isReported = false
  let isEnded = false
  let output = answer.first
  let slow: Promise<void> | undefined
  /**
   * Sends each piece in the turn of its arrival. Waits only for the end of the answer and for slow
   * clients.
   */
  const pass = (bytes: Uint8Array, from: number, to: number): boolean => {
    output = shownOf(relayed, tap.push(bytes, from, to))
    if (seen.firstText === undefined) noteText()
    if (output.held !== '') return false
    slow = client.writeText(output.now)
    keepAlive.restart()
    return slow === undefined
  }
  const passEnd = async ({ now, held }: TapOutput): Promise<void> => {
    await client.writeText(now)
    if (held === '') return
    if (!isReported) await settle(ports, call, endOf(ports, relayed, client))
    isReported = true
    isEnded = exchange.isReadOut
    if (isEnded) {
      const rest = shownOf(relayed, tap.end())
      await client.writeText(held + rest.now + rest.held, true)
      return
    }
    await client.writeText(held)
    exchange.expectEndWithin(GRACE_AFTER_END_MS)
  }
  try {
    await passEnd(shownOf(relayed, answer.first))
    while (await keepAlive.during(exchange.readPartsWhile(pass))) {
      await (slow === undefined ? passEnd(output) : heldUp.during(slow))
      slow = undefined
    }
    if (!isEnded) await passEnd(shownOf(relayed, tap.end()))
    if (!isReported) {
      if (!tap.isWholeAtEnd())
        throw unusableAnswer(target.name, 'ended its stream before it was complete')
      await settle(ports, call, endOf(ports, relayed, client))
    }
  } catch (thrown) {
    if (isReported) return
    const encode = (error: GatewayError) => tap.encodeFailure(error)
    await endBroken(ports, relayed, { thrown, client, heldUp, encode })
  } finally {
    keepAlive.close()
    await giveUp(ports, relayed)
  }
}

/**
 * An answer too large to buffer is relayed as it arrives; only the last piece waits for the ledger.
 */
async function relayLarge(
  ports: RelayPorts,
  relayed: Relayed<Extract<BegunAnswer, { type: 'large' }>>,
  client: AnswerSink,
): Promise<void> {
  const { call, answer } = relayed
  const { exchange } = answer
  call.body.release()
  client.whenLeft(() => exchange.close())
  const heldUp = new HeldUp(ports.clock)
  let held = answer.first
  let slow: Promise<void> | undefined
  const pass = (piece: Uint8Array): boolean => {
    answer.counted.push(piece)
    slow = client.write(held)
    held = piece
    return slow === undefined
  }
  try {
    while (await exchange.readWhile(pass)) if (slow !== undefined) await heldUp.during(slow)
    await settle(ports, call, largeResult(relayed))
    await client.write(held)
  } catch (thrown) {
    await endBroken(ports, relayed, { thrown, client, heldUp, encode: () => NOTHING })
  } finally {
    await giveUp(ports, relayed)
  }
}

/**
 * Ends a broken answer with an error in the caller's dialect and an unclean close, so the client
 * does not take the answer as complete. A client that left gets nothing.
 */
async function endBroken(
  ports: RelayPorts,
  relayed: Relayed,
  { thrown, client, heldUp, encode }: BrokenAnswer,
): Promise<void> {
  const { call, target } = relayed
  const { clock, breakers } = ports
  if (client.isLeft || (thrown instanceof UpstreamFailure && thrown.type === 'cancelled')) {
    await settleQuietly(ports, call, leftResult(ports, relayed))
    return
  }
  const error = toFailure(thrown, target.name)
  if (isTargetsFault(error) && !heldUp.isLong) breakers.noteFailed(target.healthKey, 0, error)
  const isOurs = isOurEnd(thrown) || heldUp.isLong
  await settleQuietly(ports, call, failedResult(ports, relayed, { kind: error.kind, isOurs }))
  await client.write(encode(error))
  const flushMs = isGuaranteedEnd(thrown) ? FLUSH_BEFORE_PROMISED_CUT_MS : FLUSH_BEFORE_CUT_MS
  await cutAfterFlush(clock, client, flushMs)
}

/** Far longer than any network needs. An upstream that waits this long may abort its answer. */
const LONG_HELD_UP_MS = 10_000

/**
 * A client that reads nothing can hold the upstream up until the upstream breaks off. Such a break
 * is charged and not blamed on the target; otherwise a client could get an answer free.
 */
class HeldUp {
  readonly #clock: Pick<Timekeeper, 'elapsed'>
  #ms = 0

  constructor(clock: Pick<Timekeeper, 'elapsed'>) {
    this.#clock = clock
  }

  get isLong(): boolean {
    return this.#ms >= LONG_HELD_UP_MS
  }

  async during(taking: Promise<void>): Promise<void> {
    const since = this.#clock.elapsed()
    await taking
    this.#ms += this.#clock.elapsed() - since
  }
}

export async function cutAfterFlush(
  clock: Pick<Timekeeper, 'after'>,
  client: AnswerSink,
  flushMs = FLUSH_BEFORE_CUT_MS,
): Promise<void> {
  await new Promise<void>((resolve) => clock.after(flushMs, resolve))
  client.cut()
}

interface BrokenAnswer {
  readonly thrown: unknown
  readonly client: AnswerSink
  readonly heldUp: HeldUp
  readonly encode: (error: GatewayError) => Uint8Array
}

/**
 * The stream already ends in failure, so a ledger failure is reported only by the ledger's state.
 */
async function settleQuietly(
  ports: SettlePorts,
  call: AdmittedCall,
  result: CallResult,
): Promise<void> {
  await settle(ports, call, result).catch(() => undefined)
}

const NOTHING = new Uint8Array(0)

interface UsualHeaders {
  readonly contentType: string | undefined
  readonly headers: Headers
  readonly lines: string
  readonly names: ReadonlySet<string>
}

/**
 * A target belongs to one account, so its headers can be cached. Copying headers costs half as much
 * as building them.
 */
const usualHeaders = new WeakMap<Target, UsualHeaders>()

/**
 * The headers that nearly all answers of a target share. Copy, do not modify.
 * @param more the same for all answers of this type from this target
 */
function usualHeadersOf(
  target: Target,
  contentType: string | undefined,
  more: Readonly<Record<string, string>> | undefined,
): UsualHeaders {
  const known = usualHeaders.get(target)
  if (known !== undefined && known.contentType === contentType) return known
  const headers = new Headers({ ...toTargetHeaders(target.name, 1), ...more })
  if (contentType !== undefined) headers.set('content-type', contentType)
  const names = new Set(headers.keys())
  const usual = { contentType, headers, names, lines: linesOf(headers) }
  usualHeaders.set(target, usual)
  return usual
}

function linesOf(headers: Headers): string {
  let lines = ''
  for (const [name, value] of headers) lines += fieldLine(name, value)
  return lines
}

function toLines(headers: RelayedHeaders, call: Call): Pick<WholeAnswer, 'lines' | 'more'> {
  const { usual, forwarded, attempted } = headers
  if (!hasMoreThanUsual(call.attempts, attempted))
    return { lines: usual.lines, more: new OwnLines(headers, call) }
  const all = new Headers(usual.headers)
  for (const name in forwarded) if (!all.has(name)) all.set(name, forwarded[name] ?? '')
  setAll(all, toAnswerHeaders(call.attempts, attempted))
  setAll(all, call.headers)
  return { lines: linesOf(all), more: undefined }
}

class OwnLines implements HeadLines {
  readonly #usualNames: ReadonlySet<string>
  readonly #forwarded: Readonly<Record<string, string>>
  readonly #own: Readonly<Record<string, string>>

  constructor({ forwarded, usual }: RelayedHeaders, { headers }: Call) {
    this.#usualNames = usual.names
    this.#forwarded = forwarded
    this.#own = headers
  }

  writeTo(head: HeadWriter): void {
    const own = this.#own
    for (const name in this.#forwarded)
      if (!this.#usualNames.has(name) && !(name in own))
        head.field(name, this.#forwarded[name] ?? '')
    for (const name in own) head.field(name, own[name] ?? '')
  }
}

function setAll(headers: Headers, values: Readonly<Record<string, string>>): void {
  for (const name in values) headers.set(name, values[name] ?? '')
}

type ReportedMembers = Pick<Attempted, 'ignored' | 'adapted'>

/** False for the usual case: one attempt with the unchanged request. */
function hasMoreThanUsual({ list, skipped }: AttemptLog, { ignored, adapted }: ReportedMembers) {
  return list.length !== 1 || ignored.length > 0 || adapted.length > 0 || skipped.length > 0
}

export function toAnswerHeaders(
  attempts: Pick<AttemptLog, 'target' | 'list' | 'skipped'>,
  { ignored, adapted }: ReportedMembers,
): Record<string, string> {
  const headers = toTargetHeaders(attempts.target ?? '', attempts.list.length)
  if (ignored.length > 0) headers['x-gatehouse-ignored'] = encodeNames(ignored)
  if (adapted.length > 0) headers['x-gatehouse-adapted'] = encodeNames(adapted)
  return attempts.skipped.length > 0 ? Object.assign(headers, toSkippedHeader(attempts)) : headers
}

/** Comments replace headers for a stream whose headers were sent before the names were known. */
export function toNameComments({ ignored, adapted }: Attempted): string {
  return [
    ...(ignored.length > 0 ? [`: x-gatehouse-ignored: ${encodeNames(ignored)}\n\n`] : []),
    ...(adapted.length > 0 ? [`: x-gatehouse-adapted: ${encodeNames(adapted)}\n\n`] : []),
  ].join('')
}

function toTargetHeaders(target: string, attempts: number): Record<string, string> {
  return { 'x-gatehouse-target': encodeName(target), 'x-gatehouse-attempts': String(attempts) }
}

export function toSkippedHeader({ skipped }: Pick<AttemptLog, 'skipped'>): Record<string, string> {
  return skipped.length === 0 ? {} : { 'x-gatehouse-skipped': encodeNames(skipped) }
}

/** Field names come from the caller, so the names are percent-encoded for headers, and bounded. */
function encodeNames(names: readonly string[]): string {
  return showNames(names, { maxLength: 1024, toText: encodeName })
}

// Some requests have no upstream endpoint, so the gateway answers them itself.

/** @throws GatewayError `invalid_request` */
export async function answerLocally(ports: SettlePorts, call: AdmittedCall): Promise<Response> {
  const answer = call.dialect.answerLocally?.(call.accepted)
  await settle(ports, call, { outcome: 'succeeded', status: 200 })
  return Response.json(answer, { headers: { ...call.headers, 'x-gatehouse-estimated': 'true' } })
}
