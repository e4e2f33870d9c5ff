/**
 * How long failure tests take: short in `make test`, long with GATEHOUSE_CHAOS=long, which also
 * prints figures.
 */

export const IS_LONG = process.env.GATEHOUSE_CHAOS === 'long'

export function tellFigures(line: string): void {
  console.log(`  ${line}`)
}

export function tellProgress(line: string): void {
  if (IS_LONG) tellFigures(line)
}
