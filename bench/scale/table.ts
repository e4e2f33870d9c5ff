/** The lines of `make bench-scale`: a figure at both sizes, the ratio, the bar and the verdict. */
import type { Bar, Figures, Scenario, Sizes } from './scenario.ts'

export interface Measured {
  readonly scenario: Pick<Scenario, 'title' | 'bars'>
  readonly store: string
  readonly sizes: Sizes
  readonly small: Figures
  readonly large: Figures
}

export function describeMeasured({
  scenario,
  store,
  sizes,
  small,
  large,
}: Measured): readonly string[] {
  const [smallSize, largeSize] = sizes.map((size) => size.toLocaleString('en-US'))
  const head = `${scenario.title} · ${store} · ${smallSize} and ${largeSize}`
  const names = Object.keys({ ...small, ...large })
  for (const barred of Object.keys(scenario.bars))
    if (!names.includes(barred))
      throw new Error(`${scenario.title}: '${barred}' has a bar and was not measured`)
  return [
    head,
    ...names.map((name) => describeFigure(name, [small[name], large[name]], scenario.bars[name])),
  ]
}

/** True when all bars are met. */
export function meetsBars({ scenario, small, large }: Omit<Measured, 'store' | 'sizes'>): boolean {
  return Object.entries(scenario.bars).every(([name, bar]) =>
    isMet(bar, judgedOf(small[name], large[name])),
  )
}

type Pair = readonly [small: number | undefined, large: number | undefined]

function describeFigure(name: string, [small, large]: Pair, bar: Bar | undefined): string {
  const judged = judgedOf(small, large)
  const { ratio } = judged
  const columns = [
    `  ${name.padEnd(34)}`,
    show(small).padStart(10),
    show(large).padStart(10),
    `${ratio === undefined ? '–' : ratio.toFixed(2)} ×`.padStart(10),
    describeBar(bar).padStart(14),
    bar === undefined ? '' : isMet(bar, judged) ? 'met' : 'NOT MET',
  ]
  return columns.join('  ').trimEnd()
}

/** Zero to zero counts as one; zero to a positive figure has no ratio. */
function ratioOf(small: number, large: number): number | undefined {
  if (small === 0) return large === 0 ? 1 : undefined
  return large / small
}

function describeBar(bar: Bar | undefined): string {
  if (bar === undefined) return ''
  return bar.type === 'ratio' ? `ratio ≤ ${bar.most}` : `≤ ${bar.most}`
}

interface Judged {
  readonly small: number | undefined
  readonly large: number | undefined
  readonly ratio: number | undefined
}

function judgedOf(small: number | undefined, large: number | undefined): Judged {
  const ratio = small === undefined || large === undefined ? undefined : ratioOf(small, large)
  return { small, large, ratio }
}

/** A missing figure does not meet its bar. */
function isMet(bar: Bar, { small, large, ratio }: Judged): boolean {
  if (bar.type === 'ratio') return ratio !== undefined && ratio <= bar.most
  return small !== undefined && large !== undefined && Math.max(small, large) <= bar.most
}

function show(figure: number | undefined): string {
  if (figure === undefined) return '–'
  if (Number.isInteger(figure)) return String(figure)
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(2)
}
