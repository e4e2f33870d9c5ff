/** Remembers in memory which members of requests targets refuse. */
import type { Stopwatch } from '../../core/clock.ts'
import type { Target } from '../plan/compile-target.ts'

/** Requests a stream's usage. The gateway adds the member, so no caller loses it. */
export const STREAM_OPTIONS = 'stream_options'

const HOUR_MS = 3_600_000
/** A vendor may lift a refusal, and a server may be replaced, so the member is tried again. */
const forgottenAfterMs = (member: string) => (member === STREAM_OPTIONS ? 24 * HOUR_MS : HOUR_MS)
const MAX_TARGETS = 10_000

type Named = Pick<Target, 'url' | 'model'>

export class RefusedMembers {
  readonly #clock: Stopwatch
  /** By target, the target with the newest refusal last. */
  readonly #refusedAtMs = new Map<string, Map<string, number>>()

  constructor(clock: Stopwatch) {
    this.#clock = clock
  }

  has(target: Named, member: string): boolean {
    if (this.#refusedAtMs.size === 0) return false
    const atMs = this.#refusedAtMs.get(keyOf(target))?.get(member)
    return atMs !== undefined && this.#clock.elapsed() - atMs < forgottenAfterMs(member)
  }

  /** The refused members that callers may send. */
  of(target: Named): readonly string[] {
    const members = this.#refusedAtMs.get(keyOf(target))
    if (members === undefined) return NOTHING
    return [...members.keys()].filter((name) => name !== STREAM_OPTIONS && this.has(target, name))
  }

  note(target: Named, member: string): void {
    const key = keyOf(target)
    const members = this.#refusedAtMs.get(key) ?? new Map<string, number>()
    members.set(member, this.#clock.elapsed())
    this.#refusedAtMs.delete(key)
    this.#refusedAtMs.set(key, members)
    const [oldest] = this.#refusedAtMs.keys()
    if (this.#refusedAtMs.size > MAX_TARGETS && oldest !== undefined)
      this.#refusedAtMs.delete(oldest)
  }
}

function keyOf({ url, model }: Named): string {
  return `${url}\n${model}`
}

const NOTHING: readonly string[] = []
