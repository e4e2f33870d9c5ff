/** TypeScript types of the API, from its OpenAPI document (JSON Schema as zod writes it). */

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema?: Schema
  }[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}

const JSON_TYPE = 'application/json'

/** The whole file. Operations are named `METHOD /path/{parameter}`. */
export function toApiTypes(document: ApiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `  readonly ${JSON.stringify(name)}: ${toType(schema)}`,
  )
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) =>
        `  readonly ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: {\n` +
        `    readonly question: ${toQuestion(operation)}\n    readonly answer: ${toAnswer(operation)}\n  }`,
    ),
  )
  return [
    '/** What the gateway is asked and answers over HTTP. Generated from its OpenAPI document by scripts/docs.ts: `make fmt` renews it. */',
    `export interface Schemas {\n${schemas.toSorted().join('\n')}\n}`,
    `export interface Api {\n${operations.toSorted().join('\n')}\n}`,
    '',
  ]
    .join('\n\n')
    .replace(/\n\n$/, '\n')
}

/** `path`, `query` and `body`, without empty members and header parameters. */
function toQuestion({ parameters = [], requestBody }: Operation): string {
  const parts = (['path', 'query'] as const).flatMap((place) => {
    const members = parameters.filter((parameter) => parameter.in === place)
    if (members.length === 0) return []
    const isNeeded = members.some(({ required }) => required === true)
    const types = members.map(({ name, required, schema }) =>
      toMember(name, required === true, schema),
    )
    return [`readonly ${place}${isNeeded ? '' : '?'}: { ${types.join('; ')} }`]
  })
  const body = requestBody?.content[JSON_TYPE]?.schema
  if (body !== undefined)
    parts.push(`readonly body${requestBody?.required === true ? '' : '?'}: ${toType(body)}`)
  return parts.length === 0 ? 'Record<never, never>' : `{ ${parts.join('; ')} }`
}

/** The type of successful JSON answers; null without a JSON answer. */
function toAnswer({ responses }: Operation): string {
  const types = Object.entries(responses).flatMap(([status, { content }]) => {
    const schema = content?.[JSON_TYPE]?.schema
    return status.startsWith('2') && schema !== undefined ? [toType(schema)] : []
  })
  return types.length === 0 ? 'null' : union(types)
}

function toType(schema: Schema | undefined): string {
  if (schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) return `Schemas[${JSON.stringify(schema.$ref.split('/').at(-1))}]`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  // Beside members, choices only say which members are required.
  const choices = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined
  if (choices !== undefined) return union(choices.map(toType))
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${toType(part)})`).join(' & ')
  if (typeof schema.type === 'object')
    return union(schema.type.map((type) => toType({ ...schema, type })))
  switch (schema.type) {
    case 'integer':
      return 'number'
    case 'number':
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'array':
      return `readonly (${toType(schema.items)})[]`
    case 'object':
      return toObject(schema)
    default:
      return 'unknown'
  }
}

function toObject({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(([name, schema]) =>
    toMember(name, required.includes(name), schema),
  )
  const isRecord =
    typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
  if (isRecord && members.length === 0)
    members.push(`readonly [name: string]: ${toType(additionalProperties)}`)
  else if (additionalProperties === true || typeof additionalProperties === 'object')
    members.push('readonly [name: string]: unknown')
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join('; ')} }`
}

/** An optional member may also be undefined, because JSON omits undefined members. */
function toMember(name: string, isRequired: boolean, schema: Schema | undefined): string {
  return `readonly ${JSON.stringify(name)}${isRequired ? '' : '?'}: ${toType(schema)}${isRequired ? '' : ' | undefined'}`
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}
