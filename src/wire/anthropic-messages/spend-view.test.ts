import { expect, test } from 'bun:test'
import type { SpendState } from '../../core/spend-state.ts'
import { toSpendView } from './spend-view.ts'

const USD = 1_000_000_000
const month: SpendState = {
  period: 'month',
  usedNanoUsd: 271.409 * USD,
  limitNanoUsd: 500 * USD,
  endsAtMs: Date.parse('2026-12-01T00:00:00.000Z'),
}
const total: SpendState = {
  period: 'total',
  usedNanoUsd: 0.4 * USD,
  limitNanoUsd: 0.5 * USD,
  endsAtMs: Number.POSITIVE_INFINITY,
}
const ofMonth = {
  kind: 'spend',
  group: 'monthly',
  percent: 54,
  resets_at: '2026-12-01T00:00:00.000Z',
  severity: 'normal',
}

test('shows a limit in cents and whole percents', () => {
  expect(toSpendView([month])).toEqual({
    extra_usage: {
      is_enabled: true,
      monthly_limit: 50_000,
      used_credits: 27_140,
      utilization: 54,
      currency: 'USD',
    },
    limits: [{ ...ofMonth, is_active: true }],
  })
})

test('the dollars are those of the fullest limit', () => {
  expect(toSpendView([month, total])).toMatchObject({
    extra_usage: { monthly_limit: 50, used_credits: 40, utilization: 80 },
    limits: [
      { ...ofMonth, is_active: false },
      { group: 'total', percent: 80, resets_at: null, severity: 'warning', is_active: true },
    ],
  })
})

test('below the limit at most 99 percent are shown, and all above the limit', () => {
  const percentOf = (usedNanoUsd: number) => toSpendView([{ ...month, usedNanoUsd }])
  expect(percentOf(499.9 * USD)).toMatchObject({ limits: [{ percent: 99, severity: 'critical' }] })
  expect(percentOf(600 * USD)).toMatchObject({ limits: [{ percent: 120, severity: 'critical' }] })
})

test('without a limit the list is empty', () => {
  expect(toSpendView([])).toEqual({ limits: [] })
})
