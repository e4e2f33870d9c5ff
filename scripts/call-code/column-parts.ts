/**
 * What the code of several files needs to know of the columns of a call. Must not know one of the
 * files.
 */
import type {
  CallColumn,
  CallColumns,
  ChoiceColumn,
  ColumnPart,
  PlainColumn,
} from '../../src/core/call-column.ts'

export type NamedColumn = CallColumn & { readonly name: string }

/** In the order of the list. */
export function listColumns(columns: CallColumns): readonly NamedColumn[] {
  return Object.entries(columns).map(([name, column]) => ({ name, ...column }))
}

/** How its value is held in records, rows and lines. */
export type Held = 'string' | 'number' | 'boolean'

/** `brand`: the type of TypeScript that such texts have in records; `null`: none of their own. */
export const PLAIN_TYPES = {
  callId: { held: 'string', brand: 'CallId' },
  accountId: { held: 'string', brand: 'AccountId' },
  keyId: { held: 'string', brand: 'KeyId' },
  gateId: { held: 'string', brand: 'GateId' },
  text: { held: 'string', brand: null },
  flag: { held: 'boolean', brand: null },
  count: { held: 'number', brand: null },
  positiveCount: { held: 'number', brand: null },
  httpStatus: { held: 'number', brand: null },
  moment: { held: 'number', brand: null },
  durationMs: { held: 'number', brand: null },
  errorKind: { held: 'string', brand: 'ErrorKind' },
} as const satisfies Readonly<
  Record<PlainColumn['type'], { readonly held: Held; readonly brand: string | null }>
>

export function isPlain(
  column: NamedColumn,
): column is (PlainColumn | ChoiceColumn) & { name: string } {
  return column.type !== 'attempts' && column.type !== 'usage' && column.type !== 'cost'
}

export function heldAs(column: PlainColumn | ChoiceColumn): Held {
  return column.type === 'choice' ? 'string' : PLAIN_TYPES[column.type].held
}

export function toUnion(values: readonly string[] = []): string {
  return values.map(toLiteral).join(' | ')
}

/** As the code's own style spells it. */
export function toLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${toLiteral(member)}`)
    return `{ ${members.join(', ')} }`
  }
  if (typeof value !== 'string' || value.includes("'")) return JSON.stringify(value)
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"')}'`
}

/** The parts of a column that the table holds in several, with their names; none of any other. */
export function partsOf(column: NamedColumn): readonly (ColumnPart & { readonly name: string })[] {
  if (!('parts' in column)) return []
  return Object.entries(column.parts).map(([name, part]) => ({ name, ...part }))
}

interface Places {
  /** Of the table. */
  readonly column: string
  readonly csv: number | null
}

/** Where they are in the table and in the export, part by part. */
export function listPlaces(columns: CallColumns): readonly Places[] {
  return listColumns(columns).flatMap((column): readonly Places[] =>
    'parts' in column ? partsOf(column) : [column],
  )
}

/** One to a line, so that a change of the list is a change of few lines. */
export function block(lines: readonly string[], indent = '  '): string {
  return lines.map((line) => `${indent}${line}\n`).join('')
}

export function generatedHead(does: string): string {
  return `/** ${does} Made from src/core/call-columns.ts by \`make fmt\`; edit the list. */\n`
}
