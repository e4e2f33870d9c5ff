import { describe, expect, test } from 'bun:test'
import {
  formatChange,
  formatCount,
  formatDuration,
  formatShare,
  formatUsd,
  formatUsdExactly,
  formatUsdInCents,
  NOT_KNOWN,
} from './figures.ts'

const plain = (text: string | undefined) => text?.replaceAll(/[^\d.,<$%+−±a-zA-Z ]/g, '')

describe('figures for readers', () => {
  test.each([
    [0, '$0'],
    [0.0000042, '$0.0000042'],
    [0.00123, '$0.0012'],
    [0.25, '$0.25'],
    [0.125, '$0.125'],
    [12.5, '$12.50'],
    [9_999.994, '$9,999.99'],
    [12_345.6, '$12,346'],
  ])('%d dollars is %s: a call with a cost never seems to be free', (usd, text) => {
    expect(formatUsd(usd)).toBe(text)
  })

  test.each([
    [0, '$0'],
    [0.000123, '$0.000123'],
    [5, '$5.00'],
    [0.123456, '$0.123456'],
    [999_999.99, '$999,999.99'],
    [1_000_000, '$1,000,000.00'],
    [9_999_999_999.99, '$9,999,999,999.99'],
  ])('a limit of %d dollars is %s: as it was set', (usd, text) => {
    expect(formatUsdExactly(usd)).toBe(text)
  })

  test.each([
    [0.00123, '$0.0012'],
    [0.125, '$0.125'],
    [999_999.99, '$999,999.99'],
  ])('%d dollars of a limit are %s: large amounts keep their cents', (usd, text) => {
    expect(formatUsdInCents(usd)).toBe(text)
  })

  test.each([
    [0.2, '<1 ms'],
    [12.4, '12 ms'],
    [999, '999 ms'],
    [999.7, '1.00 s'],
    [1_000, '1.00 s'],
    [9_994, '9.99 s'],
    [9_996, '10.0 s'],
    [59_900, '59.9 s'],
    [59_960, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_599_700, '1 h 0 min'],
    [200_000, '3 min 20 s'],
    [7_260_000, '2 h 1 min'],
  ])('%d milliseconds is %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text)
  })

  test.each([
    [0, '0%'],
    [0.00002, '<0.01%'],
    [0.00617, '0.62%'],
    [0.0729, '7.3%'],
    [0.423, '42.3%'],
    [1, '100%'],
  ])('a share of %d is %s', (share, text) => {
    expect(formatShare(share)).toBe(text)
  })

  test('counts keep every digit up to ten thousand', () => {
    expect(plain(formatCount(9_999))).toBe('9,999')
    expect(formatCount(12_345)).toMatch(/^12\.3 ?[kK]$/)
  })

  test('a change is shown only if there was a value before', () => {
    expect(formatChange(150, 100)).toBe('+50%')
    expect(formatChange(50, 100)).toBe('−50%')
    expect(formatChange(100, 100)).toBe('±0%')
    expect(formatChange(100, 0)).toBeUndefined()
    expect(formatChange(null, 100)).toBeUndefined()
  })

  test('an unknown value is never shown as zero', () => {
    expect([
      formatUsd(null),
      formatDuration(null),
      formatShare(Number.NaN),
      formatCount(undefined),
    ]).toEqual(Array(4).fill(NOT_KNOWN))
  })
})
