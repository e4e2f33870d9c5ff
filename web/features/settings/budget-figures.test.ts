import { expect, test } from 'bun:test'
import { parseAlerts, parseTokens, parseUsd, writeAlerts } from './budget-figures.ts'

test('tokens are read as people write them', () => {
  for (const text of ['1000000', '1,000,000', '1 000 000', '1_000_000'])
    expect(parseTokens(text)).toEqual({ value: 1_000_000 })
  for (const text of ['', '0', '1.5', '-3', '1e6', 'many'])
    expect(parseTokens(text)).toHaveProperty('problem')
})

test('dollars keep six decimals and no more', () => {
  expect(parseUsd('$1,250.50')).toEqual({ value: 1250.5 })
  expect(parseUsd('0.000001')).toEqual({ value: 0.000001 })
  for (const text of ['', '0', '0.0000001', '-1', '.'])
    expect(parseUsd(text)).toHaveProperty('problem')
})

test('alerts are percents that become shares, and the other way round', () => {
  expect(parseAlerts('50, 80,100')).toEqual({ value: [0.5, 0.8, 1] })
  expect(parseAlerts('50% 80%')).toEqual({ value: [0.5, 0.8] })
  expect(parseAlerts('  ')).toEqual({ value: [] })
  for (const text of ['0', '101', '50, 50', 'half', '12.5', '1 2 3 4 5 6 7 8 9 10 11'])
    expect(parseAlerts(text)).toHaveProperty('problem')
  expect(writeAlerts([0.5, 0.29, 1])).toBe('50, 29, 100')
})
