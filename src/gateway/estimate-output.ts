/** Estimates a call's output tokens from its limit, or else from recent calls of its gate. */
import { formOfDialect } from '../core/dialects.ts'
import type { Gate } from '../core/gate.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { ReadExplicit } from '../wire/gate-defaults.ts'

/** Larger than any model's output, so a larger limit counts as no limit. */
const MAX_OUTPUT_TOKENS = 1_000_000
const OUTPUT_CAPS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']
/** The number of answers requested, each as long as the limit allows. */
const ANSWERS = 'n'

export interface OutputEstimate {
  readonly cap: number | undefined
  /** Estimated tokens of a call without a limit; otherwise 0. */
  readonly usualTokens: number
  /** The gate whose output estimate this call updates, if any. */
  readonly teaches: Gate | undefined
}

interface OutputRequest {
  readonly dialect: Dialect
  readonly body: AcceptedRequest['body']
  readonly gate: Gate | undefined
}

export function estimateOutput(
  usualOutput: UsualOutput | undefined,
  { dialect, body, gate }: OutputRequest,
): OutputEstimate {
  const cap = readOutputCap(body, dialect.readExplicit, gate)
  const isUsual = cap === undefined && formOfDialect(dialect.id).writesText
  if (!isUsual || usualOutput === undefined || gate === undefined)
    return { cap, usualTokens: 0, teaches: undefined }
  const answers = readAnswers(body)
  const usualTokens = Math.min(MAX_OUTPUT_TOKENS, usualOutput.of(gate) * answers)
  // Some targets ignore `n`, so a call with several answers is not a sample.
  return { cap, usualTokens, teaches: answers === 1 ? gate : undefined }
}

/** The expected output of a call before the gate's first sample. */
const UNKNOWN_TOKENS = 500
/** Weights of the newest sample. The average rises faster than it falls, to avoid overspending. */
const RISE = 1 / 2
const FALL = 1 / 16

export class UsualOutput {
  /** A changed gate is a new object, so its estimate starts anew with its new targets. */
  readonly #byGate = new WeakMap<Gate, number>()

  of(gate: Gate): number {
    return Math.ceil(this.#byGate.get(gate) ?? UNKNOWN_TOKENS)
  }

  note(gate: Gate, tokens: number): void {
    const known = this.#byGate.get(gate)
    const step = known === undefined ? 1 : tokens > known ? RISE : FALL
    const from = known ?? 0
    this.#byGate.set(gate, Math.min(MAX_OUTPUT_TOKENS, from + (tokens - from) * step))
  }
}

/**
 * @param readExplicit undefined: the dialect has no gate defaults
 * @returns the limit for all requested answers together; undefined: no limit
 */
export function readOutputCap(
  body: AcceptedRequest['body'],
  readExplicit?: ReadExplicit,
  gate?: Pick<Gate, 'defaults' | 'overrides'>,
): number | undefined {
  const requested = readGreatestCap(body, readExplicit)
  const ofGate = readExplicit === undefined ? undefined : gate?.defaults?.maxOutputTokens
  const isCallersOwn =
    ofGate === undefined || (gate?.overrides === 'allow' && requested !== undefined)
  const cap = isCallersOwn ? requested : ofGate
  if (cap === undefined) return undefined
  return Math.min(MAX_OUTPUT_TOKENS, cap * readAnswers(body))
}

function readAnswers(body: AcceptedRequest['body']): number {
  // Bounded, because an infinite number of answers with 0 tokens each would give NaN.
  const answers = readNumber(body, ANSWERS) ?? readNumberInText(body, ANSWERS)
  return Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.ceil(answers ?? 1)))
}

/**
 * The target obeys only one of two members, so the greater value counts: otherwise a small second
 * member would avoid the reservation.
 */
function readGreatestCap(
  body: AcceptedRequest['body'],
  readExplicit: ReadExplicit | undefined,
): number | undefined {
  let greatest: number | undefined
  for (const name of OUTPUT_CAPS) {
    const cap = readNumber(body, name)
    if (cap === undefined || cap <= (greatest ?? 0)) continue
    if (isHeeded(name, readExplicit?.(body, 'maxOutputTokens', cap))) greatest = Math.ceil(cap)
  }
  return greatest
}

function isHeeded(name: string, explicit: ReturnType<ReadExplicit> | undefined): boolean {
  return explicit?.some(({ field }) => field === name) !== false
}

function readNumber(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  return member !== undefined && body.type(member) === 'number'
    ? Number(body.value(member))
    : undefined
}

/** Servers that validate with Pydantic accept `"3"` for 3 unless they are strict. */
function readNumberInText(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  if (member === undefined || body.type(member) !== 'string') return undefined
  const number = Number(body.value(member))
  return Number.isNaN(number) ? undefined : number
}
