import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addCosts,
  costOfParts,
  MAX_LIMIT_USD,
  MAX_NANO_USD,
  MAX_STORED_NANO_USD,
  toNanoUsd,
  toUsd,
  toUsdText,
} from './money.ts'

const GREATEST_INTEGER_OF_COLUMN = 2n ** 63n - 1n

test('24 tokens at 0.02 dollars a million are 480 billionths, and a million of them 0.48 dollars', () => {
  const each = costOfParts([{ count: 24, usdPerMillion: 0.02 }])
  expect(each).toBe(480)
  let sum = 0
  for (let call = 0; call < 1_000_000; call += 1) sum += each
  expect(toUsd(sum)).toBe(0.48)
})

describe('a cost', () => {
  test.each([
    ['nothing', [], 0],
    ['half a billionth', [[1, 0.0005]], 1],
    ['less than half a billionth', [[1, 0.00049]], 0],
    [
      'halves that are rounded together',
      [
        [1, 0.0005],
        [1, 0.0005],
      ],
      1,
    ],
    ['a product that is a hair less in binary', [[1, 1.0005]], 1001],
    ['a price with a binary error', [[10, 0.18000000000000002]], 1800],
  ] as const)('of %s is rounded once', (_name, parts, nanoUsd) => {
    expect(costOfParts(parts.map(([count, usdPerMillion]) => ({ count, usdPerMillion })))).toBe(
      nanoUsd,
    )
  })

  test('is the exact sum of its products, rounded, for every price in steps of a millionth', () => {
    const part = fc.record({
      count: fc.nat({ max: 500_000 }),
      steps: fc.nat({ max: 15_000_000 }),
    })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const exact = parts.reduce((sum, { count, steps }) => sum + BigInt(count * steps), 0n)
        const found = costOfParts(
          parts.map(({ count, steps }) => ({ count, usdPerMillion: steps / 1_000_000 })),
        )
        // A step of a million tokens' price is a thousandth of a billionth for one token.
        expect(BigInt(found)).toBe((exact + 500n) / 1_000n)
      }),
    )
  })

  test('is at most 9 million dollars, so that it stays a number that a column can hold', () => {
    expect(costOfParts([{ count: 1_000_000_000, usdPerMillion: 1_000_000 }])).toBe(MAX_NANO_USD)
    expect(addCosts(MAX_NANO_USD, 5)).toBe(MAX_NANO_USD)
    expect(Number.isSafeInteger(MAX_NANO_USD)).toBe(true)
  })
})

describe('dollars and billionths', () => {
  test('convert without loss, up to the highest limit', () => {
    expect(toNanoUsd(MAX_LIMIT_USD)).toBe(MAX_NANO_USD)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_NANO_USD }), (nanoUsd) => {
        expect(toNanoUsd(toUsd(nanoUsd)) - nanoUsd).toBeWithin(-1, 2)
        if (nanoUsd < 1e15) expect(toNanoUsd(toUsd(nanoUsd))).toBe(nanoUsd)
      }),
    )
  })

  test.each([
    [0, '0'],
    [480, '0.00000048'],
    [250_000_000_000, '250'],
    [1_500_000_000, '1.5'],
    [MAX_NANO_USD, '9000000'],
  ])('%d billionths are written as $%s', (nanoUsd, text) => {
    expect(toUsdText(nanoUsd)).toBe(text)
  })
})

test('two sums of the highest size fit into a column', () => {
  expect(2n * BigInt(MAX_STORED_NANO_USD) < GREATEST_INTEGER_OF_COLUMN).toBe(true)
})
