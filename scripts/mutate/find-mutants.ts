/** Every mutant of a file. Knows neither which of them are tried nor how. */
import { editsOf, type OperatorName } from './operators.ts'
import { type ByteRange, replaceBytes, SourceText } from './syntax.ts'

export interface Mutant {
  /** From the root of the tree, with slashes. */
  readonly path: string
  /** From 1, like the column. */
  readonly line: number
  readonly column: number
  readonly operator: OperatorName
  /** The line it begins in, without its indentation. */
  readonly lineText: string
  /** On one line each. */
  readonly original: string
  readonly mutated: string
  readonly range: ByteRange
  readonly replacement: string
}

export function findMutants(path: string, text: string): Mutant[] {
  const source = new SourceText(text)
  const mutants: Mutant[] = []
  source.walk((node, ancestors) => {
    for (const { operator, range, replacement, shown } of editsOf({ source, node, ancestors })) {
      const before = source.slice({ from: shown.from, to: range.from })
      const after = source.slice({ from: range.to, to: shown.to })
      mutants.push({
        path,
        ...source.placeOf(range.from),
        ...{ operator, range, replacement },
        original: onOneLine(source.slice(shown)),
        mutated: onOneLine(before + replacement + after),
      })
    }
  })
  return mutants
}

/** @param text of the file that the mutant was found in */
export function plantMutant({ range, replacement }: Mutant, text: string): string {
  return replaceBytes(text, range, replacement)
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
