/** The wire formats as the dashboard shows them: their names, and those that owned models may speak. */
import {
  DIALECTS,
  dialectAt,
  formOfDialect,
  OWNED_MODEL_DIALECTS,
  type OwnedModelDialect,
} from '../core/dialects.ts'

/** By id: the name that its users know. */
export const DIALECT_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DIALECTS).map(([id, { label }]) => [id, label]),
)

/** @returns undefined where clients call nothing at the path */
export function dialectOf(endpoint: string): string | undefined {
  return dialectAt(endpoint)
}

interface OwnedDialect {
  /** When to choose it. */
  readonly use: string
  /** The path that is appended to the base address. */
  readonly path: string
  /** The form in which the base address is given. */
  readonly exampleBaseUrl: string
}

/** The formats that owned models may speak. */
export const OWNED_DIALECTS = Object.fromEntries(
  OWNED_MODEL_DIALECTS.map((id) => [id, DIALECTS[id].owned]),
) as Readonly<Record<OwnedModelDialect, OwnedDialect>>

/** True for a model that completes code between a prompt and a suffix. */
export function fillsInTheMiddle(dialect: OwnedModelDialect): boolean {
  return formOfDialect(dialect).id === 'fim'
}
