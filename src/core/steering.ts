/** Rules by which a used-up budget chooses among a gate's targets (decision 0122). */
import type { Gate } from './gate.ts'

type FirstChoice = Pick<Gate['targets'][number], 'weight'>

/** The targets that the gate's strategy may ask first. */
export function listAskedFirst<Target extends FirstChoice>(
  strategy: Gate['strategy'],
  targets: readonly Target[],
): readonly Target[] {
  if (strategy === 'fallback') return targets.slice(0, 1)
  return targets.filter(({ weight }) => strategy === 'fastest' || weight !== 0)
}

/**
 * Whether a call may be steered to a target. Free targets always qualify.
 * @param nanoUsd the call's cost there, in billionths of a US dollar; undefined: the price is unknown
 * @param belowNanoUsd 0 for `free-only`
 */
export function mayBeSteeredTo(nanoUsd: number | undefined, belowNanoUsd: number): boolean {
  return nanoUsd !== undefined && (nanoUsd === 0 || nanoUsd < belowNanoUsd)
}
