import { DIALECT_LABELS } from '../../src/contract/dialects.ts'

/** Returns unknown dialects unchanged. */
export function formatDialect(dialect: string): string {
  return DIALECT_LABELS[dialect] ?? dialect
}

export function formatDialects(dialects: readonly string[]): string {
  return [...new Set(dialects.map(formatDialect))].join(', ')
}
