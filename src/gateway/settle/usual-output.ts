/**
 * How much a gate's calls write that name no cap on their output, as far as this process has seen:
 * quotas and budgets set that aside for the next ones. Must not know prices, nor limits.
 */
import type { Gate } from '../../core/gate.ts'

/** For a gate that nothing is known of yet. */
const UNKNOWN_TOKENS = 500
/** No model writes more. */
const MOST_TOKENS = 1_000_000
/** Parts of the way to what the last call wrote. Long answers are heeded sooner than short ones. */
const RISE = 1 / 2
const FALL = 1 / 16

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
    this.#byGate.set(gate, Math.min(MOST_TOKENS, from + (tokens - from) * step))
  }
}
