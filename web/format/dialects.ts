/** Wire formats by the names that their users know. */
import { DIALECT_LABELS } from '../../src/contract/dialects.ts'

/** Itself when it is not known here. */
export function formatDialect(dialect: string): string {
  return DIALECT_LABELS[dialect] ?? dialect
}

/** `Chat Completions, Embeddings`: each name once. */
export function formatDialects(dialects: readonly string[]): string {
  return [...new Set(dialects.map(formatDialect))].join(', ')
}
