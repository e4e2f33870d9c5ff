/**
 * The marks that tell series apart: colours, as the style sheet names them for both palettes, and
 * patterns for eyes and printers without colours.
 */

const COLORS = [
  'var(--chart-1)',
  'var(--chart-2)',
  'var(--chart-3)',
  'var(--chart-4)',
  'var(--chart-5)',
  'var(--chart-6)',
] as const

export const PATTERNS = ['solid', 'rising', 'dots', 'level', 'falling', 'grid'] as const
export type PatternName = (typeof PATTERNS)[number]

/** How one thing is painted wherever it is drawn. */
export interface Paint {
  readonly color: string
  readonly pattern: PatternName
}

/** The paint of no series: the period before. */
export const FAINT = 'var(--chart-rest)'

/** The colour of everything else. */
export const REST_PAINT: Paint = { color: FAINT, pattern: 'solid' }
/** The paint of calls that belong to nothing: they asked no target. */
export const NOTHING_PAINT: Paint = { color: FAINT, pattern: 'rising' }

/**
 * So many series are drawn at once: all have other colours and other patterns while not more things
 * were ever drawn.
 */
export const MAX_SERIES = 5

/** So many paints differ in colour or pattern. */
export const PAINT_COUNT = COLORS.length * PATTERNS.length

export function lineColor(index: number): string {
  return COLORS[index % COLORS.length] ?? FAINT
}

/** Broken lines of series after the first, as the second signal beside their colours. */
export function lineDashes(index: number): string | undefined {
  return index === 0 ? undefined : '10 3 2 3'
}

/** The first six differ from each other in both; later ones in one of them at least. */
export function paintAt(slot: number): Paint {
  const { color, pattern } = partsOf(slot)
  return { color: COLORS[color] ?? FAINT, pattern: PATTERNS[pattern] ?? 'solid' }
}

/** The places of a paint's colour and pattern in their lists. */
export function partsOf(slot: number): { readonly color: number; readonly pattern: number } {
  const color = slot % COLORS.length
  return { color, pattern: (color + Math.floor(slot / COLORS.length)) % PATTERNS.length }
}
