/** What a budget dialog says beneath its fields, for the unit and the period chosen. Pure. */
import type { Budget } from './budget-figures.ts'

type Period = Budget['period']

const PERIODS: Readonly<Record<Period, string>> = {
  day: 'Starts again each day at 00:00 UTC.',
  week: 'Starts again each Monday at 00:00 UTC.',
  month: 'Starts again on the first of each month at 00:00 UTC.',
  total: 'Never starts again: once it is used up, raise or delete it.',
}

const SPANS: Readonly<Record<Period, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
}

export function describeLimit(unit: 'usd' | 'tokens', period: Period): string {
  const what = unit === 'usd' ? 'The cost of calls' : 'Input and output tokens'
  return `${what}, ${SPANS[period]}.`
}

export function describePeriod(period: Period): string {
  return `${PERIODS[period]} Only calls from now on count.`
}

export function hintOfAlerts(period: Period): string {
  return `Percents of the limit. Each sends one event${period === 'total' ? '' : ' a period'}.`
}
