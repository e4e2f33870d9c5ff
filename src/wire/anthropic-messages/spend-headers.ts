/**
 * The headers in which Claude Code reads how much of a limit in money is used. The published client
 * contains their description (`GET /protocol` of its own gateway).
 */
import type { Period } from '../../core/period.ts'
import { type SpendState, usedShareOf } from '../../core/spend-state.ts'

// provider-name-ok: a header of the dialect
const UNIFIED = 'anthropic-ratelimit-unified'
const STATUS = `${UNIFIED}-status`
const CLAIM = `${UNIFIED}-representative-claim`
const RESET = `${UNIFIED}-reset`
const OVERAGE = `${UNIFIED}-overage`
const OVERAGE_STATUS = `${OVERAGE}-status`
const OVERAGE_RESET = `${OVERAGE}-reset`
const OVERAGE_UTILIZATION = `${OVERAGE}-utilization`
const OVERAGE_THRESHOLD = `${OVERAGE}-surpassed-threshold`
const OVERAGE_PERIOD = `${OVERAGE}-period`
const OVERAGE_REASON = `${OVERAGE}-disabled-reason`

const REASON = 'org_spend_cap_reached'

/** The shares at which the client shows a notice, in descending order. */
const THRESHOLDS = [0.95, 0.75]

export const PERIOD_NAMES: Readonly<Partial<Record<Period, string>>> = {
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
}

/** Two decimals; below 1, because the client takes 1 for a refusal. */
export function shownShareOf(share: number): number {
  return Math.min(0.99, Math.round(share * 100) / 100)
}

/** Headers of an answer. */
export function toSpendHeaders(state: SpendState): Record<string, string> {
  const share = usedShareOf(state)
  const passed = THRESHOLDS.find((threshold) => share > threshold)
  const status = passed === undefined ? 'allowed' : 'allowed_warning'
  return {
    [STATUS]: status,
    [CLAIM]: 'overage',
    [OVERAGE_STATUS]: status,
    [OVERAGE_UTILIZATION]: String(shownShareOf(share)),
    ...(passed === undefined ? {} : { [OVERAGE_THRESHOLD]: String(passed) }),
    ...toReset(state),
  }
}

/**
 * Of a refusal. With `representative-claim` or `overage-status`, or without a reason, the client would
 * show its own text beside the error's message or instead of it.
 * @param state undefined: the limit is not in money, or its use is hidden from the caller
 */
export function toRefusedSpendHeaders(state: SpendState | undefined): Record<string, string> {
  if (state === undefined) return { [OVERAGE_REASON]: REASON }
  const period = PERIOD_NAMES[state.period]
  return {
    [STATUS]: 'rejected',
    [OVERAGE_UTILIZATION]: '1',
    [OVERAGE_THRESHOLD]: '1',
    [OVERAGE_REASON]: REASON,
    ...(period === undefined ? {} : { [OVERAGE_PERIOD]: period }),
    ...toReset(state),
  }
}

function toReset({ endsAtMs }: SpendState): Record<string, string> {
  if (!Number.isFinite(endsAtMs)) return {}
  const seconds = String(Math.floor(endsAtMs / 1000))
  return { [RESET]: seconds, [OVERAGE_RESET]: seconds }
}
