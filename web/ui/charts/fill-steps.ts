import { listSteps, type Period, type StepLength } from '../../format/time-range.ts'
import type { Measure, UsageFigures } from '../../format/usage-measures.ts'

export interface StepSum extends UsageFigures {
  readonly start: string
}

export interface FilledPeriod {
  readonly period: Period
  readonly step: StepLength
  readonly sums: readonly StepSum[]
}

export function fillSteps(
  { period, step, sums }: FilledPeriod,
  measure: Measure,
): readonly { readonly startMs: number; readonly value: number | null }[] {
  // A month's sum begins with the month, even if the period begins within the month.
  const bySteps = new Map(sums.map((sum) => [Math.max(Date.parse(sum.start), period.fromMs), sum]))
  return listSteps(period, step).map((startMs) => {
    const sum = bySteps.get(startMs)
    return {
      startMs,
      value: sum === undefined ? (measure.isSummable ? 0 : null) : measure.read(sum),
    }
  })
}
