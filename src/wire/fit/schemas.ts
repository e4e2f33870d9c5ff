/** Fits JSON Schemas of tools and of response formats to what a model accepts. */
import type { ChatRequest, JsonRecord, JsonValue, Tool } from '../chat-request.ts'
import { isRecord } from '../read-json.ts'
import type { Changes } from './changes.ts'
import type { RequestRules } from './request-rules.ts'

export function fitSchemas(
  request: ChatRequest,
  rules: RequestRules,
  changes: Changes,
): ChatRequest {
  const tools = request.tools?.map((tool) => fitTool(tool, rules, changes))
  return { ...fitFormat(request, rules, changes), ...(tools === undefined ? {} : { tools }) }
}

function fitTool(tool: Tool, rules: RequestRules, { ignored, adapted }: Changes): Tool {
  let { parameters, strict } = tool
  if (parameters === undefined) return tool
  if (rules.plainToolSchemas === true) {
    parameters = toPlainRoot(withItems(resolveRoot(parameters)) as JsonRecord)
    if (!Bun.deepEquals(parameters, tool.parameters)) adapted.add('tool.schema')
  }
  if (rules.strictSchemas === true && strict === true && !isStrictSchema(parameters)) {
    strict = false
    ignored.add('tool.strict')
  }
  return { ...tool, parameters, ...(strict === undefined ? {} : { strict }) }
}

function fitFormat(request: ChatRequest, rules: RequestRules, changes: Changes): ChatRequest {
  const { responseFormat, tools = [] } = request
  if (responseFormat === undefined || responseFormat.type === 'text') return request
  const isExcluded =
    (rules.refusesResponseSchema === true && responseFormat.type === 'json-schema') ||
    (rules.formatExcludesTools === true && tools.length > 0)
  if (isExcluded) {
    changes.ignored.add('responseFormat')
    const { responseFormat: _, ...rest } = request
    return rest
  }
  if (responseFormat.type !== 'json-schema' || rules.closedSchemas !== true) return request
  const schema = toClosed(responseFormat.schema)
  if (!Bun.deepEquals(schema, responseFormat.schema)) changes.adapted.add('responseFormat')
  return { ...request, responseFormat: { ...responseFormat, schema } }
}

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const
const REFUSED_AT_ROOT = new Set<string>([...COMBINATORS, 'not', 'enum', 'const'])

/**
 * Converts the root to an object with properties. Branches of combinators are merged: a property of
 * any branch is allowed, and a property that all branches require stays required. The description
 * lists the branches for the model.
 */
function toPlainRoot(schema: JsonRecord): JsonRecord {
  const branches = COMBINATORS.flatMap((name) => {
    const list = schema[name]
    return Array.isArray(list) ? [{ name, list: list.filter(isRecord) as JsonRecord[] }] : []
  })
  const rest = Object.entries(schema).filter(([name]) => !REFUSED_AT_ROOT.has(name))
  const lost = Object.entries(schema).filter(([name]) => REFUSED_AT_ROOT.has(name))
  const properties = Object.assign(
    {},
    ...branches.flatMap(({ list }) => list.map((branch) => recordOf(branch.properties))),
    recordOf(schema.properties),
  ) as JsonRecord
  const required = new Set(textsOf(schema.required))
  for (const { name, list } of branches)
    for (const property of name === 'allOf' ? list.flatMap(requiredOf) : requiredByAll(list))
      required.add(property)
  return {
    ...Object.fromEntries(rest),
    type: 'object',
    properties,
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(lost.length === 0 ? {} : { description: describe(schema.description, lost) }),
  }
}

const requiredOf = (branch: JsonRecord) => textsOf(branch.required)

function requiredByAll(branches: readonly JsonRecord[]): readonly string[] {
  const [first, ...others] = branches.map(requiredOf)
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)))
}

/** Replaces a reference at the root by the definition in the same schema. */
function resolveRoot(schema: JsonRecord): JsonRecord {
  const { $ref, ...rest } = schema
  const [, group = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref)) ?? []
  const definition = recordOf(schema[group])[name]
  return isRecord(definition) ? { ...rest, ...(definition as JsonRecord) } : schema
}

/** Members that hold schemas by name, or lists of schemas. */
const MAPS = new Set(['properties', '$defs', 'definitions', 'patternProperties'])
const LISTS = new Set<string>([...COMBINATORS, 'prefixItems'])

/** Applies `change` to each schema within a schema, innermost first. */
function mapSchemas(schema: JsonValue, change: (schema: JsonRecord) => JsonRecord): JsonValue {
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

/** Vendors refuse an array without `items`. */
function withItems(schema: JsonRecord): JsonValue {
  return mapSchemas(schema, (each) =>
    each.type === 'array' && each.items === undefined && each.prefixItems === undefined
      ? { ...each, items: {} }
      : each,
  )
}

/** Keywords and formats that structured outputs of Anthropic's models accept. */
const ACCEPTED = new Set([
  ...['type', 'enum', 'const', '$ref', '$defs', 'definitions', 'anyOf', 'allOf', 'properties'],
  ...['required', 'items', 'description', 'title', 'additionalProperties', 'default'],
])
const FORMATS = new Set<JsonValue>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])

/** Forbids further members of objects, and moves unsupported keywords to the description. */
function toClosed(schema: JsonRecord): JsonRecord {
  return mapSchemas(schema, (each) => {
    const { oneOf, $schema: _, ...others } = each
    const spelled: JsonRecord =
      oneOf === undefined || others.anyOf !== undefined ? each : { ...others, anyOf: oneOf }
    const isKept = ([name, value]: [string, JsonValue]) =>
      ACCEPTED.has(name) ||
      (name === 'format' && FORMATS.has(value)) ||
      (name === 'minItems' && (value === 0 || value === 1))
    const entries = Object.entries(spelled).filter(([name]) => name !== '$schema')
    const lost = entries.filter((entry) => !isKept(entry))
    return {
      ...Object.fromEntries(entries.filter(isKept)),
      ...(each.type === 'object' ? { additionalProperties: false } : {}),
      ...(lost.length === 0 ? {} : { description: describe(each.description, lost) }),
    }
  }) as JsonRecord
}

function describe(
  description: JsonValue | undefined,
  keywords: readonly (readonly [string, JsonValue])[],
): string {
  const told = keywords.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')
  return typeof description === 'string' ? `${description}\n\n(${told})` : `(${told})`
}

/** True when every object lists its members and requires all of them. */
function isStrictSchema(schema: JsonRecord): boolean {
  let isStrict = true
  mapSchemas(schema, (each) => {
    if (each.type !== 'object') return each
    const names = Object.keys(recordOf(each.properties))
    const required = textsOf(each.required)
    isStrict &&=
      each.additionalProperties === false && names.every((name) => required.includes(name))
    return each
  })
  return isStrict
}

function recordOf(value: JsonValue | undefined): JsonRecord {
  return isRecord(value) ? (value as JsonRecord) : {}
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
