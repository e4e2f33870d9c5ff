/** Reads and rewrites JSON Schemas, which requests contain as plain JSON. */
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { isRecord } from '../read-json.ts'

export const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const

/** Members that hold schemas by name, or lists of schemas. */
const MAPS = new Set(['properties', '$defs', 'definitions', 'patternProperties'])
const LISTS = new Set<string>([...COMBINATORS, 'prefixItems'])

/** Applies `change` to each schema within a schema, innermost first. */
export function mapSchemas(
  schema: JsonValue,
  change: (schema: JsonRecord) => JsonRecord,
): JsonValue {
  if (!isRecord(schema)) return schema
  const inner = Object.entries(schema as JsonRecord).map(([name, value]) => {
    if (MAPS.has(name) && isRecord(value))
      return [
        name,
        Object.fromEntries(
          Object.entries(value as JsonRecord).map(([key, each]) => [key, mapSchemas(each, change)]),
        ),
      ]
    if (LISTS.has(name) && Array.isArray(value))
      return [name, value.map((each: JsonValue) => mapSchemas(each, change))]
    if (name === 'items' || name === 'additionalProperties')
      return [name, mapSchemas(value, change)]
    return [name, value]
  })
  return change(Object.fromEntries(inner))
}

/** Lists keywords for the model after the description that the schema has. */
export function describe(
  description: JsonValue | undefined,
  keywords: readonly (readonly [string, JsonValue])[],
): string {
  const listed = keywords.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')
  return typeof description === 'string' ? `${description}\n\n(${listed})` : `(${listed})`
}

export function recordOf(value: JsonValue | undefined): JsonRecord {
  return isRecord(value) ? (value as JsonRecord) : {}
}

export function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
