/**
 * The colours of series are distinct: for eyes that see fewer, on both surfaces. Reads the style
 * sheet.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { FAINT, lineColor, PAINT_COUNT, PATTERNS, paintAt } from './palette.ts'

type Three = readonly [number, number, number]
const styles = await Bun.file(join(import.meta.dir, '../../styles.css')).text()
const PALETTES = {
  light: /:root \{([^}]*)\}/.exec(styles)?.[1] ?? '',
  dark: /:root\[data-theme="dark"\] \{([^}]*)\}/.exec(styles)?.[1] ?? '',
} as const

/**
 * Severity 1 of Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of
 * color vision deficiency" (2009).
 */
const EYES: Readonly<Record<string, readonly Three[]>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

const dot = (left: Three, right: Three) =>
  left[0] * right[0] + left[1] * right[1] + left[2] * right[2]
const apply = (rows: readonly Three[], color: Three) =>
  rows.map((row) => dot(row, color)) as unknown as Three

function linear(palette: string, variable: string): Three {
  const name = variable.replace(/^var\((.*)\)$/, '$1')
  const hex = new RegExp(`${name}: #([0-9a-f]{6});`).exec(palette)?.[1]
  if (hex === undefined) throw new Error(`${name} is in no palette`)
  const part = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [part(0), part(2), part(4)]
}

/** WCAG 2.1, 1.4.11. */
function contrast(left: Three, right: Three): number {
  const [low = 0, high = 0] = [left, right]
    .map((color) => dot([0.2126, 0.7152, 0.0722], color) + 0.05)
    .toSorted((one, other) => one - other)
  return high / low
}

/** In OKLab, where equal distances look equal: black and white are 1 apart. */
function distance(left: Three, right: Three): number {
  const [one, other] = [toOklab(left), toOklab(right)]
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2])
}

function toOklab(color: Three): Three {
  const inside = color.map((part) => Math.min(1, Math.max(0, part))) as unknown as Three
  const cones = apply(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    inside,
  ).map(Math.cbrt) as unknown as Three
  return apply(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  )
}

const SERIES = Array.from({ length: 6 }, (_, index) => lineColor(index))

describe.each(['light', 'dark'] as const)('on the %s palette', (name) => {
  const palette = PALETTES[name]

  test('every colour of a chart stands out from its background', () => {
    for (const color of [...SERIES, FAINT])
      for (const ground of ['--surface', '--sunken'])
        expect(contrast(linear(palette, color), linear(palette, ground))).toBeGreaterThanOrEqual(3)
  })

  test.each(Object.keys(EYES))('the colours differ for eyes with %s', (eyes) => {
    const seen = (color: string) => apply(EYES[eyes] ?? [], linear(palette, color))
    for (const [index, color] of SERIES.entries()) {
      for (const other of SERIES.slice(0, index))
        expect(distance(seen(color), seen(other))).toBeGreaterThan(0.12)
      expect(distance(seen(color), seen(FAINT))).toBeGreaterThan(0.07)
    }
  })
})

test('paints are all different, in colour or in pattern', () => {
  const paints = Array.from({ length: PAINT_COUNT }, (_, slot) => paintAt(slot))
  expect(new Set(paints.map(({ color, pattern }) => `${color} ${pattern}`)).size).toBe(PAINT_COUNT)
  for (let first = 0; first < PAINT_COUNT; first += 6)
    expect(new Set(paints.slice(first, first + 6).map(({ pattern }) => pattern)).size).toBe(
      PATTERNS.length,
    )
})
