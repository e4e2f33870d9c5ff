/**
 * Strict schemas of vendors that demand every member: optional members become required and may be
 * null, and these nulls are taken out of the answer again.
 */
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { isRecord } from '../read-json.ts'
import { describe, mapSchemas, recordOf, textsOf } from './json-schema.ts'

const REFUSED = new Set([
  ...['allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'],
  'patternProperties',
])
const FORMATS = new Set<JsonValue>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
])
/** A schema without any of these members accepts every value, which strict schemas may not. */
const TYPED = ['type', 'anyOf', '$ref', 'enum', 'const'] as const

/** @returns undefined when the schema has no strict form */
export function toStrict(schema: JsonRecord): JsonRecord | undefined {
  let isPossible = true
  const strict = mapSchemas(schema, (each) => {
    const { oneOf, ...others } = each
    const isLost = ([name, value]: [string, JsonValue]) =>
      name === 'default' || (name === 'format' && !FORMATS.has(value))
    const lost = Object.entries(others).filter(isLost)
    const spelled: JsonRecord = {
      ...Object.fromEntries(Object.entries(others).filter((entry) => !isLost(entry))),
      ...(oneOf === undefined || others.anyOf !== undefined ? {} : { anyOf: oneOf }),
      ...(lost.length === 0 ? {} : { description: describe(others.description, lost) }),
    }
    isPossible &&=
      (oneOf === undefined || others.anyOf === undefined) &&
      TYPED.some((name) => spelled[name] !== undefined) &&
      !Object.keys(spelled).some((name) => REFUSED.has(name))
    if (!isObjectType(spelled.type)) return spelled
    // A map has no list of members to require.
    const isMap = spelled.properties === undefined && spelled.additionalProperties === undefined
    isPossible &&= !isMap && (spelled.additionalProperties ?? false) === false
    const properties = recordOf(spelled.properties)
    const required = textsOf(spelled.required)
    const nullable = Object.entries(properties).map(([name, property]) =>
      required.includes(name) ? [name, property] : [name, toNullable(property, schema)],
    )
    return {
      ...spelled,
      properties: Object.fromEntries(nullable),
      required: Object.keys(properties),
      additionalProperties: false,
    }
  }) as JsonRecord
  return isPossible ? strict : undefined
}

export function hasOptionalMembers(schema: JsonRecord): boolean {
  let isOptional = false
  mapSchemas(schema, (each) => {
    const required = textsOf(each.required)
    isOptional ||= Object.keys(recordOf(each.properties)).some((name) => !required.includes(name))
    return each
  })
  return isOptional
}

const isObjectType = (type: JsonValue | undefined) => type === 'object' || hasText(type, 'object')

function hasText(list: JsonValue | undefined, text: string): boolean {
  return Array.isArray(list) && list.includes(text)
}

function toNullable(schema: JsonValue, root: JsonRecord): JsonValue {
  return acceptsNull(schema, root) ? schema : { anyOf: [schema, { type: 'null' }] }
}

function acceptsNull(given: JsonValue | undefined, root: JsonRecord): boolean {
  const schema = resolve(given, root)
  const { type, anyOf, oneOf } = schema
  const branches = anyOf ?? oneOf
  if (Array.isArray(branches)) return branches.some((branch) => acceptsNull(branch, root))
  if (Array.isArray(schema.enum)) return schema.enum.includes(null)
  return type === 'null' || hasText(type, 'null')
}

/** Follows a reference into the same schema; a chain of references ends after a few. */
function resolve(given: JsonValue | undefined, root: JsonRecord, hops = 8): JsonRecord {
  const schema = recordOf(given)
  if (typeof schema.$ref !== 'string' || hops === 0) return schema
  let found: JsonValue | undefined = root
  for (const step of schema.$ref.split('/').slice(1))
    found = recordOf(found)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  return resolve(found, root, hops - 1)
}

/**
 * @param schema the caller's own, before `toStrict`
 * @returns the same text when there is no such null, or the text is no JSON
 */
export function withoutAddedNulls(text: string, schema: JsonRecord): string {
  if (!text.includes('null')) return text
  try {
    const value = JSON.parse(text, keepNumbers) as JsonValue
    const restored = restore(value, schema, schema)
    return Bun.deepEquals(restored, value) ? text : JSON.stringify(restored)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return text
    throw thrown
  }
}

/** Of the proposal https://github.com/tc39/proposal-json-parse-with-source, which Bun has. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(source: string): JsonValue
  isRawJSON(value: unknown): boolean
}

/** Numbers keep their spelling, because a double cannot hold all digits. */
function keepNumbers(
  _name: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  const { source } = context ?? {}
  if (typeof value !== 'number' || source === undefined || source === String(value)) return value
  return rawJSON(source)
}

function restore(value: JsonValue, given: JsonValue | undefined, root: JsonRecord): JsonValue {
  if (isRawJSON(value)) return value
  const schema = resolve(given, root)
  const branches = schema.anyOf ?? schema.oneOf
  if (Array.isArray(branches)) {
    const branch = branches.find((each) => fits(value, each, root))
    return branch === undefined ? value : restore(value, branch, root)
  }
  if (Array.isArray(value)) return value.map((each) => restore(each, schema.items, root))
  if (!isRecord(value)) return value
  const properties = recordOf(schema.properties)
  const required = textsOf(schema.required)
  const isAdded = ([name, member]: [string, JsonValue]) =>
    member === null && !required.includes(name) && !acceptsNull(properties[name], root)
  return Object.fromEntries(
    Object.entries(value as JsonRecord)
      .filter((entry) => !isAdded(entry))
      .map(([name, member]) => [name, restore(member, properties[name], root)]),
  )
}

/** Whether a branch's strict form can have produced the value: strict objects have every member. */
function fits(value: JsonValue, given: JsonValue, root: JsonRecord): boolean {
  const schema = resolve(given, root)
  if (Array.isArray(value)) return schema.type === 'array'
  if (!isRecord(value) || !isObjectType(schema.type)) return false
  const properties = Object.entries(recordOf(schema.properties))
  const record = value as JsonRecord
  return (
    properties.length === Object.keys(record).length &&
    properties.every(([name, property]) => {
      const { const: only, enum: words } = recordOf(property)
      if (!Object.hasOwn(record, name)) return false
      const member = record[name] ?? null
      if (member === null) return true
      return (
        (only === undefined || only === member) && (!Array.isArray(words) || words.includes(member))
      )
    })
  )
}
