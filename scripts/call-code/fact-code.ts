/** src/contract/call-facts.generated.ts: what the dashboard tells of a call as plain facts. */
import type { CallColumns } from '../../src/core/call-column.ts'
import {
  block,
  generatedHead,
  listColumns,
  PLAIN_TYPES,
  toLiteral,
  toUnion,
} from './column-parts.ts'

/** Apart from the fields: the dashboard would have to load what checks them. */
export const FACTS_PATH = 'src/contract/call-facts.generated.ts'

export function factCode(columns: CallColumns): string {
  const facts = listColumns(columns).flatMap((column) =>
    'fact' in column && column.fact !== undefined && column.body !== null
      ? [{ name: column.name, type: column.type, ...column.fact }]
      : [],
  )
  return [
    generatedHead('What the dashboard tells of a call as plain facts.'),
    '\nexport interface CallFact {\n',
    block([
      `readonly name: ${toUnion(facts.map(({ name }) => name))}`,
      `readonly type: ${toUnion([...Object.keys(PLAIN_TYPES), 'choice'])}`,
      'readonly title: string',
      '/** What stands for a value. */',
      'readonly words?: Readonly<Record<string, string>>',
      '/** What stands for null; absent: nothing is told then. */',
      'readonly without?: string',
    ]),
    '}\n\n',
    'export const CALL_FACTS: readonly CallFact[] = [\n',
    block(facts.map((fact) => `${toLiteral(fact)},`)),
    ']\n',
  ].join('')
}
