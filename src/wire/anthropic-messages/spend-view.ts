/**
 * The answer of `GET /api/oauth/usage`, in which Claude Code reads dollars for its usage view. The
 * published client contains the description (`GET /protocol` of its own gateway).
 */
import { fullestOf, type SpendState, usedShareOf } from '../../core/spend-state.ts'
import { PERIOD_NAMES, shownShareOf } from './spend-headers.ts'

const NANO_USD_PER_CENT = 10_000_000

/** @param states the limits in money of the asking caller alone */
export function toSpendView(states: readonly SpendState[]): object {
  const active = fullestOf(states)
  return {
    ...(active === undefined ? {} : { extra_usage: toExtraUsage(active) }),
    limits: states.map((state) => toLimit(state, state === active)),
  }
}

/** `monthly_limit` has this name for every period. Amounts are in cents. */
function toExtraUsage(state: SpendState): object {
  return {
    is_enabled: true,
    monthly_limit: state.limitNanoUsd / NANO_USD_PER_CENT,
    used_credits: Math.floor(state.usedNanoUsd / NANO_USD_PER_CENT),
    utilization: toPercent(state),
    currency: 'USD',
  }
}

function toLimit(state: SpendState, isActive: boolean): object {
  const share = usedShareOf(state)
  return {
    kind: 'spend',
    group: PERIOD_NAMES[state.period] ?? state.period,
    percent: toPercent(state),
    resets_at: Number.isFinite(state.endsAtMs) ? new Date(state.endsAtMs).toISOString() : null,
    severity: share > 0.95 ? 'critical' : share > 0.75 ? 'warning' : 'normal',
    is_active: isActive,
  }
}

function toPercent(state: SpendState): number {
  const share = usedShareOf(state)
  return Math.round((share < 1 ? shownShareOf(share) : share) * 100)
}
