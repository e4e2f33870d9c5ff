/**
 * Estimates a call's output tokens: its limit, or the usual output of its gate's calls. Must not
 * know the caller, nor any price.
 */
import { formOfDialect } from '../core/dialects.ts'
import type { Gate } from '../core/gate.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import type { ReadSpoken } from '../wire/gate-defaults.ts'

/** More than any model writes; a larger limit is treated as none. */
const MAX_OUTPUT_TOKENS = 1_000_000
/** The members that limit an answer's length. Each dialect has one, OpenAI's chat has two. */
const OUTPUT_CAPS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']
/** The number of answers requested, each as long as the limit allows. */
const ANSWERS = 'n'

export interface OutputEstimate {
  /** Tokens. Undefined: the call sets no limit. */
  readonly cap: number | undefined
  /** Tokens of a call without a limit, estimated from the gate's recent calls; otherwise 0. */
  readonly usualTokens: number
  /** The gate whose usual output this call updates, if any. */
  readonly teaches: Gate | undefined
}

interface AskedOutput {
  readonly dialect: Dialect
  readonly body: AcceptedRequest['body']
  /** Undefined: no such gate. */
  readonly gate: Gate | undefined
}

/** @param usualOutput undefined: unknown for all gates */
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
  // Some targets ignore the number of answers, so several are not a usable sample of one.
  return { cap, usualTokens, teaches: answers === 1 ? gate : undefined }
}

/** Default until a gate's first sample. */
const UNKNOWN_TOKENS = 500
/** Weights of the newest sample. The average rises faster than it falls. */
const RISE = 1 / 2
const FALL = 1 / 16

/** Moving averages of the output of each gate's calls without a limit, as seen by this process. */
export class UsualOutput {
  /** A changed gate is a new object, because it may have other targets. */
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
 * The limit for all requested answers together, or the gate's default where it applies.
 * @param readSpoken the dialect's; undefined: gate defaults have no effect there
 * @param gate undefined: no such gate
 * @returns undefined: no limit
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
  // Bounded, because an infinite number of answers of 0 tokens each would give NaN.
  const answers = readNumber(body, ANSWERS) ?? readNumberInText(body, ANSWERS)
  return Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.ceil(answers ?? 1)))
}

/**
 * A target obeys one of the two members, so the greater one counts; otherwise a small second one
 * would avoid the reservation. Names that the dialect lacks are ignored, because no target gets
 * them.
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

/** Servers that validate with Pydantic accept `"3"` for 3 unless they are strict. */
function readNumberInText(body: AcceptedRequest['body'], name: string): number | undefined {
  const member = body.get(name)
  if (member === undefined || body.type(member) !== 'string') return undefined
  const number = Number(body.value(member))
  return Number.isNaN(number) ? undefined : number
}
