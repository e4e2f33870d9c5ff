/**
 * Remembers on this node which target served the last call of a session, or of a key without
 * sessions, so that a turn can keep its target.
 */
import type { AdmittedCall } from './call.ts'

export const MOST_REMEMBERED = 10_000
/** Calls of one turn that keep their target although a budget steers. */
export const MOST_KEPT_CALLS = 50

interface Served {
  readonly target: string
  /** Calls in a row that kept the target. */
  readonly kept: number
}

export class TurnTargets {
  /** The newest last. */
  readonly #served = new Map<string, Served>()

  /** Undefined: nothing is known, or the turn has kept its target long enough. */
  find(turn: string): string | undefined {
    const served = this.#served.get(turn)
    return served === undefined || served.kept >= MOST_KEPT_CALLS ? undefined : served.target
  }

  note(turn: string, target: string, isKept: boolean): void {
    const kept = isKept ? (this.#served.get(turn)?.kept ?? 0) + 1 : 0
    this.#served.delete(turn)
    this.#served.set(turn, { target, kept })
    const [oldest] = this.#served.keys()
    if (this.#served.size > MOST_REMEMBERED && oldest !== undefined) this.#served.delete(oldest)
  }
}

/** Each agent of a session has its own turns. */
export function turnOf({
  caller,
  gate,
  attribution,
}: Pick<AdmittedCall, 'caller' | 'gate' | 'attribution'>): string {
  const { session, agent = '' } = attribution ?? {}
  const who = session === undefined ? caller.keyId : `${session} ${agent}`
  return `${caller.accountId}\n${gate?.id ?? ''}\n${who}`
}
