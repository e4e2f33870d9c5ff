import { formatCount, formatDuration, formatShare, formatUsd } from './figures.ts'

interface Percentiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface UsageFigures {
  readonly calls: number
  readonly errors: number
  /**
   * Part of `errors`: calls refused before any provider was asked. Earlier gateways do not report
   * this figure.
   */
  readonly refused?: number | undefined
  readonly tokens: { readonly input: number; readonly output: number }
  readonly cost: {
    readonly usd: number
    readonly estimatedCalls: number
    readonly unknownCalls: number
    /**
     * Part of `unknownCalls`: calls whose model has no price. Earlier gateways do not report this
     * figure.
     */
    readonly unpricedCalls?: number | undefined
  }
  readonly durationMs: Percentiles
  readonly firstByteMs: Percentiles
}

export interface Measure {
  readonly label: string
  readonly unit: string
  readonly read: (sum: UsageFigures) => number | null
  readonly format: (value: number | null | undefined) => string
  /** Whether the parts' figures add up to the total; percentiles and shares do not. */
  readonly isSummable: boolean
  /** True for figures that are better when lower; undefined for neutral figures. */
  readonly isBetterWhenLess?: true
}

/** Calls for a provider, and how many of them failed; other calls count as refused. */
export function readErrors({
  calls,
  errors,
  refused = 0,
}: Pick<UsageFigures, 'calls' | 'errors' | 'refused'>) {
  return { asked: calls - refused, errors: errors - refused }
}

export function readErrorRate(
  sum: Pick<UsageFigures, 'calls' | 'errors' | 'refused'>,
): number | null {
  const { asked, errors } = readErrors(sum)
  return asked === 0 ? null : errors / asked
}

/** Calls missing from the cost: their model has no price, or their provider reported no tokens. */
export function readUnknown({ cost }: Pick<UsageFigures, 'cost'>) {
  const { unknownCalls, unpricedCalls = unknownCalls } = cost
  return { unpriced: unpricedCalls, unreported: unknownCalls - unpricedCalls }
}

export const CALLS: Measure = {
  label: 'Calls',
  unit: 'calls',
  read: (sum) => sum.calls,
  format: formatCount,
  isSummable: true,
}

export const TOKENS: Measure = {
  label: 'Tokens',
  unit: 'tokens',
  read: (sum) => sum.tokens.input + sum.tokens.output,
  format: formatCount,
  isSummable: true,
}

export const COST: Measure = {
  label: 'Cost',
  unit: 'US dollars',
  read: (sum) => sum.cost.usd,
  format: formatUsd,
  isSummable: true,
}

export const ERRORS: Measure = {
  label: 'Errors',
  unit: 'failed calls',
  read: (sum) => readErrors(sum).errors,
  format: formatCount,
  isSummable: true,
  isBetterWhenLess: true,
}

export const ERROR_RATE: Measure = {
  label: 'Error rate',
  unit: 'share of calls',
  read: readErrorRate,
  format: formatShare,
  isSummable: false,
  isBetterWhenLess: true,
}

function latency(label: string, read: Measure['read']): Measure {
  return {
    label,
    unit: 'time',
    read,
    format: formatDuration,
    isSummable: false,
    isBetterWhenLess: true,
  }
}

export const LATENCY_P50 = latency('Latency p50', (sum) => sum.durationMs.p50)
export const LATENCY_P95 = latency('Latency p95', (sum) => sum.durationMs.p95)
export const FIRST_TOKEN_P50 = latency('First token p50', (sum) => sum.firstByteMs.p50)
export const FIRST_TOKEN_P95 = latency('First token p95', (sum) => sum.firstByteMs.p95)
