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

export interface Paint {
  readonly color: string
  readonly pattern: PatternName
}

export const FAINT = 'var(--chart-rest)'

export const REST_PAINT: Paint = { color: FAINT, pattern: 'solid' }
/** The paint of calls without a target. */
export const NOTHING_PAINT: Paint = { color: FAINT, pattern: 'rising' }

/**
 * The number of series drawn at once. These series have different colours and patterns until more
 * items were drawn.
 */
export const MAX_SERIES = 5

export const PAINT_COUNT = COLORS.length * PATTERNS.length

export function lineColor(index: number): string {
  return COLORS[index % COLORS.length] ?? FAINT
}

/** Dash patterns of series after the first, a second signal besides their colours. */
export function lineDashes(index: number): string | undefined {
  return index === 0 ? undefined : '10 3 2 3'
}

/** The first six paints differ in both colour and pattern, later paints in at least one of them. */
export function paintAt(slot: number): Paint {
  const { color, pattern } = partsOf(slot)
  return { color: COLORS[color] ?? FAINT, pattern: PATTERNS[pattern] ?? 'solid' }
}

export function partsOf(slot: number): { readonly color: number; readonly pattern: number } {
  const color = slot % COLORS.length
  return { color, pattern: (color + Math.floor(slot / COLORS.length)) % PATTERNS.length }
}
