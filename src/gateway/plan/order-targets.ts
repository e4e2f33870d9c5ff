/** Orders a gate's targets by its strategy, then by their health. */
import type { Gate, GateTarget } from '../../core/gate.ts'
import type { AccountId } from '../../core/ids.ts'
import type { CircuitBreakers } from '../attempt/circuit-breakers.ts'

/** Under `fastest`, every 20th call goes first to the target that was asked least recently. */
const EXPLORED_SHARE = 20

/** A strategy's state for one version of a gate. A changed gate is a new object and starts anew. */
interface Rotation {
  calls: number
  readonly credits: number[]
}

export class TargetOrder {
  readonly #breakers: CircuitBreakers
  readonly #rotations = new WeakMap<Gate, Rotation>()

  constructor(breakers: CircuitBreakers) {
    this.#breakers = breakers
  }

  /** @param preferred the names of targets that come first, if they are well */
  of(gate: Gate, preferred?: ReadonlyMap<string, unknown>): readonly GateTarget[] {
    const { targets } = gate
    return targets.length === 1 ? targets : this.#inOrder(gate, preferred)
  }

  #inOrder(gate: Gate, preferred: ReadonlyMap<string, unknown> | undefined): readonly GateTarget[] {
    const usual = this.#byStrategy(gate)
    const ordered =
      preferred === undefined
        ? usual
        : [
            ...usual.filter(({ model }) => preferred.has(model)),
            ...usual.filter(({ model }) => !preferred.has(model)),
          ]
    const conditions = ordered.map((target) => this.#breakers.conditionOf(healthKey(gate, target)))
    if (conditions.every((condition) => condition === 'well')) return ordered
    const probed = ordered.find((_, index) => conditions[index] === 'probe')
    const healthy = ordered.filter((_, index) => conditions[index] === 'well')
    const resting = ordered.filter(
      (target, index) => conditions[index] !== 'well' && target !== probed,
    )
    // One call probes a recovering target, with the other targets as fallback.
    return probed === undefined ? [...healthy, ...resting] : [probed, ...healthy, ...resting]
  }

  #byStrategy(gate: Gate): readonly GateTarget[] {
    if (gate.strategy === 'fallback') return gate.targets
    const rotation = this.#rotationOf(gate)
    rotation.calls += 1
    return gate.strategy === 'weighted'
      ? pickWeighted(gate.targets, rotation)
      : this.#byFirstByte(gate, rotation)
  }

  #byFirstByte(gate: Gate, rotation: Rotation): readonly GateTarget[] {
    const breakers = this.#breakers
    const byTime = gate.targets.toSorted(
      (left, right) =>
        // A target without measurements may be the fastest, so that target is tried first.
        (breakers.firstByteMsOf(healthKey(gate, left)) ?? -1) -
        (breakers.firstByteMsOf(healthKey(gate, right)) ?? -1),
    )
    if (rotation.calls % EXPLORED_SHARE !== 0) return byTime
    const lastAnswered = (target: GateTarget) =>
      breakers.lastAnsweredAtMsOf(healthKey(gate, target))
    const longestAgo = byTime.reduce((left, right) =>
      lastAnswered(right) < lastAnswered(left) ? right : left,
    )
    return [longestAgo, ...byTime.filter((target) => target !== longestAgo)]
  }

  #rotationOf(gate: Gate): Rotation {
    const known = this.#rotations.get(gate)
    if (known !== undefined) return known
    const rotation = { calls: 0, credits: gate.targets.map(() => 0) }
    this.#rotations.set(gate, rotation)
    return rotation
  }
}

/**
 * Smooth weighted round robin: every target gains its weight, then the target with the most credit
 * is picked and pays the sum. Each round picks every target as often as its weight, evenly spread.
 */
function pickWeighted(
  targets: readonly GateTarget[],
  { credits }: Rotation,
): readonly GateTarget[] {
  let sum = 0
  let richest = 0
  for (const [index, target] of targets.entries()) {
    const weight = weightOf(target)
    sum += weight
    credits[index] = (credits[index] ?? 0) + weight
    if ((credits[index] ?? 0) > (credits[richest] ?? 0)) richest = index
  }
  credits[richest] = (credits[richest] ?? 0) - sum
  const first = targets[richest]
  if (first === undefined) return targets
  const others = targets.filter((target) => target !== first)
  return [first, ...others.toSorted((left, right) => weightOf(right) - weightOf(left))]
}

function weightOf(target: GateTarget): number {
  return target.weight ?? 1
}

/** Contains the account, because accounts reach a target with their own keys or names. */
export function healthKey(gate: Pick<Gate, 'accountId'>, target: GateTarget): string {
  return `${gate.accountId}\n${target.model}`
}

export function readHealthKey(key: string): {
  readonly accountId: AccountId
  readonly target: string
} {
  const border = key.indexOf('\n')
  return { accountId: key.slice(0, border) as AccountId, target: key.slice(border + 1) }
}

export function healthKeyPrefix(accountId: AccountId, providerId: string): string {
  return healthKey({ accountId }, { model: `${providerId}/` })
}
