/** Fits JSON Schemas of tools and of response formats to what a model accepts. */

import type { RequestRules } from '../../core/request-rules.ts'
import type { ChatRequest, JsonRecord, JsonValue, ResponseFormat, Tool } from '../chat-request.ts'
import type { Feature } from '../codec.ts'
import { isRecord } from '../read-json.ts'
import type { Changes } from './changes.ts'
import { withFormatTool } from './format-tool.ts'
import { COMBINATORS, describe, mapSchemas, recordOf, textsOf } from './json-schema.ts'
import { hasOptionalMembers, toStrict } from './strict-schemas.ts'

export function fitSchemas(
  request: ChatRequest,
  rules: RequestRules,
  changes: Changes,
): ChatRequest {
  const formatted = fitFormat(request, rules, changes)
  // The caller has no tool whose schema could be named as changed.
  const toolChanges = changes.isFormatTool ? { ...changes, adapted: new Set<Feature>() } : changes
  const tools = formatted.tools?.map((tool) => fitTool(tool, rules, toolChanges))
  return tools === undefined ? formatted : { ...formatted, tools }
}

function fitTool(tool: Tool, rules: RequestRules, changes: Changes): Tool {
  const plain =
    tool.parameters === undefined || rules.plainToolSchemas !== true
      ? tool.parameters
      : toPlainRoot(withItems(resolveRoot(tool.parameters)) as JsonRecord)
  if (plain === undefined) return tool
  const fitted =
    tool.strict === true
      ? fitStrictTool(tool, plain, rules, changes)
      : { ...tool, parameters: plain }
  if (!Bun.deepEquals(fitted.parameters, tool.parameters)) changes.adapted.add('tool.schema')
  return fitted
}

function fitStrictTool(
  tool: Tool,
  plain: JsonRecord,
  { strictSchemas, closedSchemas, refusesResponseSchema }: RequestRules,
  { ignored, nullable }: Changes,
): Tool {
  if (refusesResponseSchema === true) {
    ignored.add('tool.strict')
    return { ...tool, parameters: plain, strict: false }
  }
  if (closedSchemas === true) return { ...tool, parameters: toClosed(plain) }
  if (strictSchemas !== true) return { ...tool, parameters: plain }
  const strict = toStrict(plain)
  if (strict === undefined) {
    ignored.add('tool.strict')
    return { ...tool, parameters: plain, strict: false }
  }
  if (!Bun.deepEquals(strict, plain)) nullable.set(tool.name, plain)
  return { ...tool, parameters: strict }
}

function fitFormat(request: ChatRequest, rules: RequestRules, changes: Changes): ChatRequest {
  const { responseFormat, tools = [] } = request
  if (responseFormat === undefined || responseFormat.type === 'text') return request
  if (rules.refusesResponseSchema === true && isForTool(responseFormat) && tools.length === 0) {
    changes.adapted.add('responseFormat')
    // Without strict tools, a model may deviate from the schema.
    if (responseFormat.strict === true) changes.ignored.add('responseFormat.strict')
    changes.isFormatTool = true
    return withFormatTool(request, responseFormat)
  }
  const isExcluded =
    (rules.refusesResponseSchema === true && responseFormat.type === 'json-schema') ||
    (rules.formatExcludesTools === true && tools.length > 0)
  if (isExcluded) {
    changes.ignored.add('responseFormat')
    const { responseFormat: _, ...rest } = request
    return rest
  }
  if (responseFormat.type !== 'json-schema') return request
  if (rules.strictSchemas === true && responseFormat.strict === true)
    return { ...request, responseFormat: fitStrictFormat(responseFormat, changes) }
  if (rules.closedSchemas !== true) return request
  const schema = toClosed(responseFormat.schema)
  if (!Bun.deepEquals(schema, responseFormat.schema)) changes.adapted.add('responseFormat')
  return { ...request, responseFormat: { ...responseFormat, schema } }
}

type SchemaFormat = Extract<ResponseFormat, { type: 'json-schema' }>

/** The arguments of a tool are an object. */
function isForTool(format: ResponseFormat): format is SchemaFormat {
  return format.type === 'json-schema' && resolveRoot(format.schema).type === 'object'
}

/**
 * A schema with optional members loses `strict`: their nulls would be in the text of the answer,
 * which is sent as it arrives.
 */
function fitStrictFormat(format: SchemaFormat, { ignored, adapted }: Changes): SchemaFormat {
  const schema = hasOptionalMembers(format.schema) ? undefined : toStrict(format.schema)
  if (schema === undefined) {
    ignored.add('responseFormat.strict')
    return { ...format, strict: false }
  }
  if (!Bun.deepEquals(schema, format.schema)) adapted.add('responseFormat')
  return { ...format, schema }
}

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
    ...branches.map(({ name, list }) =>
      mergeProperties(list, name === 'allOf' ? 'allOf' : 'anyOf'),
    ),
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

/** A property with several schemas keeps each of them. */
function mergeProperties(branches: readonly JsonRecord[], combinator: string): JsonRecord {
  const schemas = new Map<string, JsonValue[]>()
  for (const [name, schema] of branches.flatMap((each) =>
    Object.entries(recordOf(each.properties)),
  )) {
    const known = schemas.get(name) ?? []
    if (!known.some((each) => Bun.deepEquals(each, schema))) schemas.set(name, [...known, schema])
  }
  const merged = [...schemas].map(([name, [first = {}, ...others]]) => [
    name,
    others.length === 0 ? first : { [combinator]: [first, ...others] },
  ])
  return Object.fromEntries(merged)
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
