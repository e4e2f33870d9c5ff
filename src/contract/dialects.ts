/** The wire formats for the dashboard: their names, and those that owned models may use. */
import {
  DIALECTS,
  dialectAt,
  formOfDialect,
  OWNED_MODEL_DIALECTS,
  type OwnedModelDialect,
} from '../core/dialects.ts'

/** By id: the name that users know. */
export const DIALECT_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DIALECTS).map(([id, { label }]) => [id, label]),
)

/** @returns undefined when no endpoint has this path */
export function dialectOf(endpoint: string): string | undefined {
  return dialectAt(endpoint)
}

interface OwnedDialect {
  /** When to choose it. */
  readonly use: string
  /** The path that is appended to the base address. */
  readonly path: string
  /** An example of the base address. */
  readonly exampleBaseUrl: string
}

/** The formats that owned models may use. */
export const OWNED_DIALECTS = Object.fromEntries(
  OWNED_MODEL_DIALECTS.map((id) => [id, DIALECTS[id].owned]),
) as Readonly<Record<OwnedModelDialect, OwnedDialect>>

/** True for a model that completes code between a prompt and a suffix. */
export function fillsInTheMiddle(dialect: OwnedModelDialect): boolean {
  return formOfDialect(dialect).id === 'fim'
}
