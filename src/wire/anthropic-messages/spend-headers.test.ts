import { describe, expect, test } from 'bun:test'
import type { SpendState } from '../../core/spend-state.ts'
import { toRefusedSpendHeaders, toSpendHeaders } from './spend-headers.ts'

const RESET_MS = Date.parse('2026-12-01T00:00:00.000Z')
const state = (used: number, changes: Partial<SpendState> = {}): SpendState => ({
  period: 'month',
  usedNanoUsd: used,
  limitNanoUsd: 1000,
  endsAtMs: RESET_MS,
  ...changes,
})
const withPrefix = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [`anthropic-ratelimit-unified-${name}`, value]),
  )

describe('an answer', () => {
  test.each([
    [0, 'allowed', '0', undefined],
    [750, 'allowed', '0.75', undefined],
    [751, 'allowed_warning', '0.75', '0.75'],
    [950, 'allowed_warning', '0.95', '0.75'],
    [951, 'allowed_warning', '0.95', '0.95'],
    [999, 'allowed_warning', '0.99', '0.95'],
    [1300, 'allowed_warning', '0.99', '0.95'],
  ])('after %i of 1000', (used, status, share, threshold) => {
    expect(toSpendHeaders(state(used))).toEqual(
      withPrefix({
        status,
        'representative-claim': 'overage',
        'overage-status': status,
        'overage-utilization': share,
        ...(threshold === undefined ? {} : { 'overage-surpassed-threshold': threshold }),
        reset: '1796083200',
        'overage-reset': '1796083200',
      }),
    )
  })

  test('under a limit without an end has no reset', () => {
    const headers = toSpendHeaders(
      state(800, { period: 'total', endsAtMs: Number.POSITIVE_INFINITY }),
    )
    expect(Object.keys(headers).filter((name) => name.endsWith('reset'))).toEqual([])
  })

  test('under a limit of nothing is full', () => {
    const headers = toSpendHeaders(state(0, { limitNanoUsd: 0 }))
    expect(headers['anthropic-ratelimit-unified-overage-utilization']).toBe('0.99')
  })
})

describe('a refusal', () => {
  test('has what the client reads, and leaves off what replaces its message', () => {
    expect(toRefusedSpendHeaders(state(1000))).toEqual(
      withPrefix({
        status: 'rejected',
        'overage-utilization': '1',
        'overage-surpassed-threshold': '1',
        'overage-disabled-reason': 'org_spend_cap_reached',
        'overage-period': 'monthly',
        reset: '1796083200',
        'overage-reset': '1796083200',
      }),
    )
  })

  test('of a limit without an end has neither period nor reset', () => {
    const endless = state(1000, { period: 'total', endsAtMs: Number.POSITIVE_INFINITY })
    expect(Object.keys(toRefusedSpendHeaders(endless)).toSorted()).toEqual([
      'anthropic-ratelimit-unified-overage-disabled-reason',
      'anthropic-ratelimit-unified-overage-surpassed-threshold',
      'anthropic-ratelimit-unified-overage-utilization',
      'anthropic-ratelimit-unified-status',
    ])
  })
})
