import {
  DIALECTS,
  dialectAt,
  formOfDialect,
  OWNED_MODEL_DIALECTS,
  type OwnedModelDialect,
} from '../core/dialects.ts'

export const DIALECT_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DIALECTS).map(([id, { label }]) => [id, label]),
)

export function dialectOf(endpoint: string): string | undefined {
  return dialectAt(endpoint)
}

interface OwnedDialect {
  readonly use: string
  readonly path: string
  readonly exampleBaseUrl: string
}

export const OWNED_DIALECTS = Object.fromEntries(
  OWNED_MODEL_DIALECTS.map((id) => [id, DIALECTS[id].owned]),
) as Readonly<Record<OwnedModelDialect, OwnedDialect>>

export function fillsInTheMiddle(dialect: OwnedModelDialect): boolean {
  return formOfDialect(dialect).id === 'fim'
}
