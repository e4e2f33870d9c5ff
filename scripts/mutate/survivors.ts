/**
 * Mutants that no test can or should kill, each with its reason. They are tried all the same: one
 * that is killed, or that the code no longer has, is reported so that its entry goes.
 */
import type { OperatorName } from './operators.ts'

export interface ListedSurvivor {
  readonly path: string
  /** The line it begins in, without its indentation: numbers change with every edit. */
  readonly lineText: string
  readonly operator: OperatorName
  /** Where one line has several of the operator: what the report shows after the arrow. */
  readonly mutated?: string
  readonly reason: string
}

export const survivors: readonly ListedSurvivor[] = []
