/**
 * Estimates the tokens that a call will write: its cap, or what calls of its gate usually write.
 * Must not know who asks, nor any price.
 */
import { formOfDialect } from '../core/dialects.ts'
import type { Gate } from '../core/gate.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { ReadSpoken } from '../wire/gate-defaults.ts'

/** More than any model writes: a cap beyond it says nothing. */
const MAX_OUTPUT_TOKENS = 1_000_000
/** These members say how long the answer may become. Each dialect has one, OpenAI's chat two. */
const OUTPUT_CAPS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']
/** The number of answers that are asked for, each as long as the cap. */
const ANSWERS = 'n'

export interface OutputEstimate {
  /** Tokens. Undefined: the call names no cap. */
  readonly cap: number | undefined
  /** Tokens of a call without a cap, estimated from the gate's recent calls; otherwise 0. */
  readonly usualTokens: number
  /** The gate whose usual output this call updates, if any. */
  readonly teaches: Gate | undefined
}

interface AskedOutput {
  readonly dialect: Dialect
  readonly body: AcceptedRequest['body']
  /** Undefined: the call names none that exists. */
  readonly gate: Gate | undefined
}

/** @param usualOutput undefined: no gate's usual output is known */
export function estimateOutput(
  usualOutput: UsualOutput | undefined,
  { dialect, body, gate }: AskedOutput,
): OutputEstimate {
  const cap = readOutputCap(body, dialect.readSpoken, gate)
  const isUsual = cap === undefined && formOfDialect(dialect.id).writesText
  if (!isUsual || usualOutput === undefined || gate === undefined)
    return { cap, usualTokens: 0, teaches: undefined }
  const answers = readAnswers(body)
  const usualTokens = Math.min(MAX_OUTPUT_TOKENS, usualOutput.of(gate) * answers)
  // Not every target knows the number of answers, so several are no sample of one.
  return { cap, usualTokens, teaches: answers === 1 ? gate : undefined }
}

/** Default until a gate's first sample. */
const UNKNOWN_TOKENS = 500
/** Weights of the newest sample. Long answers are heeded sooner than short ones. */
const RISE = 1 / 2
const FALL = 1 / 16

/** Moving averages of what a gate's calls without a cap write, as seen by this process. */
export class UsualOutput {
  /** A gate that was changed is another object: it may have other targets. */
  readonly #byGate = new WeakMap<Gate, number>()

  /** Tokens of one answer, a whole number. */
  of(gate: Gate): number {
    return Math.ceil(this.#byGate.get(gate) ?? UNKNOWN_TOKENS)
  }

  /** @param tokens of one answer */
  note(gate: Gate, tokens: number): void {
    const known = this.#byGate.get(gate)
    const step = known === undefined ? 1 : tokens > known ? RISE : FALL
    const from = known ?? 0
    this.#byGate.set(gate, Math.min(MAX_OUTPUT_TOKENS, from + (tokens - from) * step))
  }
}

/**
 * Of all answers that are asked for at once; the gate's own cap where that counts.
 * @param readSpoken the dialect's; undefined: a gate's defaults mean nothing there
 * @param gate undefined: none is there
 * @returns undefined: there is none
 */
export function readOutputCap(
  body: AcceptedRequest['body'],
  readSpoken?: ReadSpoken,
  gate?: Pick<Gate, 'defaults' | 'overrides'>,
): number | undefined {
  const asked = readGreatestCap(body, readSpoken)
  const ofGate = readSpoken === undefined ? undefined : gate?.defaults?.maxOutputTokens
  const isAskedOnly = ofGate === undefined || (gate?.overrides === 'allow' && asked !== undefined)
  const cap = isAskedOnly ? asked : ofGate
  if (cap === undefined) return undefined
  return Math.min(MAX_OUTPUT_TOKENS, cap * readAnswers(body))
}

function readAnswers(body: AcceptedRequest['body']): number {
  // Infinitely many of no tokens each are not even a number.
  const answers = readNumber(body, ANSWERS) ?? readNumberInText(body, ANSWERS)
  return Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.ceil(answers ?? 1)))
}

/**
 * A target heeds one of them, and a small one beside it would set nothing aside. By a name that the
 * dialect does not have it is none: no target gets it, or heeds it.
 */
function readGreatestCap(
  body: AcceptedRequest['body'],
  readSpoken: ReadSpoken | undefined,
): number | undefined {
  let greatest: number | undefined
  for (const name of OUTPUT_CAPS) {
    const cap = readNumber(body, name)
    if (cap === undefined || cap <= (greatest ?? 0)) continue
    if (isHeeded(name, readSpoken?.(body, 'maxOutputTokens', cap))) greatest = Math.ceil(cap)
  }
  return greatest
}

function isHeeded(name: string, spoken: ReturnType<ReadSpoken> | undefined): boolean {
  return spoken?.some(({ field }) => field === name) !== false
}

function readNumber(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  return member !== undefined && body.type(member) === 'number'
    ? Number(body.value(member))
    : undefined
}

/** Servers that validate with Pydantic take `"3"` for 3, unless they are told to be strict. */
function readNumberInText(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  if (member === undefined || body.type(member) !== 'string') return undefined
  const number = Number(body.value(member))
  return Number.isNaN(number) ? undefined : number
}
