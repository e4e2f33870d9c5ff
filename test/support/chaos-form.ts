/**
 * How long the tests of failures take: short in `make test`, long with GATEHOUSE_CHAOS=long, which
 * also prints figures.
 */

export const IS_LONG = process.env.GATEHOUSE_CHAOS === 'long'

/** One line of figures: what a long run is for. */
export function tellFigures(line: string): void {
  console.log(`  ${line}`)
}

/** Says how far a long run is, and lets a short one be quiet. */
export function tellProgress(line: string): void {
  if (IS_LONG) tellFigures(line)
}
