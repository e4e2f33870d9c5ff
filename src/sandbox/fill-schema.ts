/**
 * Creates a value that matches a JSON schema, from words and numbers of the prompt when they fit.
 * Deterministic.
 */
import { isObject, type JsonObject, objectOf } from './json.ts'

/** The prompt's numbers and names are used once each, in order, then fillers. */
interface Offer {
  readonly text: string
  readonly numbers: number[]
  readonly names: string[]
  readonly root: JsonObject
  /** The number of values still allowed, so a recursive schema does not grow without end. */
  left: number
}

const MAX_VALUES = 5000

/**
 * Below this depth, optional members are omitted and arrays are empty, so a recursive schema ends.
 */
const MAX_DEPTH = 6

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'sandbox@example.com',
  hostname: 'sandbox.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/sandbox',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** @param usedNames words with another meaning (tool names), which are not used as values. */
export function fillSchema(
  schema: unknown,
  prompt: string,
  usedNames: readonly string[] = [],
): unknown {
  const root = objectOf(schema)
  return fill(
    root,
    'value',
    {
      text: prompt,
      numbers: numbersIn(prompt),
      names: namesIn(prompt, usedNames),
      root,
      left: MAX_VALUES,
    },
    0,
  )
}

function numbersIn(prompt: string): number[] {
  return (prompt.match(/(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?(?!\w)/g) ?? []).map(Number)
}

/** Quoted words, then capitalised words that do not begin a sentence ("San Francisco"). */
function namesIn(prompt: string, usedNames: readonly string[]): string[] {
  const quoted = [...prompt.matchAll(/"([^"\n]{1,80})"|`([^`\n]{1,80})`/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  )
  const capitalised = [
    ...prompt.matchAll(/(?<=[\p{L}\p{N},;:] )\p{Lu}[\p{L}\p{N}'-]+(?: \p{Lu}[\p{L}\p{N}'-]+)*/gu),
  ].map((match) => match[0])
  return [...quoted, ...capitalised].filter((name) => !usedNames.includes(name))
}

function fill(schema: JsonObject, property: string, offer: Offer, depth: number): unknown {
  if (offer.left-- <= 0) return null
  const target = resolve(schema, offer.root)
  if ('const' in target) return target.const
  if (Array.isArray(target.enum)) return pickFrom(target.enum, target.default, offer)
  switch (typeOf(target)) {
    case 'object':
      return fillObject(target, offer, depth)
    case 'array':
      return fillArray(target, property, offer, depth)
    case 'number':
    case 'integer':
      return fillNumber(target, offer)
    case 'boolean':
      return typeof target.default === 'boolean' ? target.default : true
    case 'null':
      return null
    default:
      return fillString(target, property, offer)
  }
}

/** Follows local references and takes the first non-null alternative; `allOf` is merged. */
function resolve(schema: JsonObject, root: JsonObject, hops = 0): JsonObject {
  if (hops > 8) return {}
  if (typeof schema.$ref === 'string') {
    const found = schema.$ref
      .replace(/^#\/?/, '')
      .split('/')
      .filter((step) => step !== '')
      .reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), root)
    return isObject(found) ? resolve(found, root, hops + 1) : {}
  }
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) {
    const first = alternatives.filter(isObject).find((option) => option.type !== 'null')
    if (first)
      return resolve({ ...schema, anyOf: undefined, oneOf: undefined, ...first }, root, hops + 1)
  }
  if (Array.isArray(schema.allOf)) {
    const parts = schema.allOf.filter(isObject).map((part) => resolve(part, root, hops + 1))
    const properties = Object.assign({}, schema.properties, ...parts.map((part) => part.properties))
    return Object.assign({}, schema, ...parts, { allOf: undefined, properties })
  }
  return schema
}

function typeOf(schema: JsonObject): string {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type
  if (typeof type === 'string') return type
  if (isObject(schema.properties)) return 'object'
  return isObject(schema.items) ? 'array' : 'string'
}

function pickFrom(values: readonly unknown[], preset: unknown, offer: Offer): unknown {
  const prompt = offer.text.toLowerCase()
  const mentioned = values.find(
    (value) => typeof value === 'string' && value !== '' && prompt.includes(value.toLowerCase()),
  )
  return mentioned ?? preset ?? values[0] ?? null
}

function fillObject(schema: JsonObject, offer: Offer, depth: number): JsonObject {
  const properties = objectOf(schema.properties)
  const required = Array.isArray(schema.required) ? schema.required : []
  const filled: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(properties)) {
    if (depth >= MAX_DEPTH && !required.includes(name)) continue
    if (depth > MAX_DEPTH * 2) continue
    filled[name] = fill(objectOf(member), name, offer, depth + 1)
  }
  return filled
}

function fillArray(schema: JsonObject, property: string, offer: Offer, depth: number): unknown[] {
  const least = typeof schema.minItems === 'number' ? schema.minItems : depth >= MAX_DEPTH ? 0 : 1
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : least
  const items = objectOf(schema.items)
  return Array.from({ length: Math.min(least, most, 64) }, () =>
    fill(items, property, offer, depth + 1),
  )
}

function fillNumber(schema: JsonObject, offer: Offer): number {
  const isInteger = typeOf(schema) === 'integer'
  const step = isInteger ? 1 : 0.5
  const least = limitOf(schema.minimum, schema.exclusiveMinimum, step) ?? -Number.MAX_VALUE
  const most = limitOf(schema.maximum, schema.exclusiveMaximum, -step) ?? Number.MAX_VALUE
  const at = offer.numbers.findIndex(
    (n) => n >= least && n <= most && (!isInteger || Number.isInteger(n)),
  )
  const [picked] = at === -1 ? [] : offer.numbers.splice(at, 1)
  if (picked !== undefined) return picked
  return typeof schema.default === 'number' ? schema.default : Math.min(Math.max(1, least), most)
}

function limitOf(inclusive: unknown, exclusive: unknown, step: number): number | undefined {
  if (typeof exclusive === 'number') return exclusive + step
  return typeof inclusive === 'number' ? inclusive : undefined
}

function fillString(schema: JsonObject, property: string, offer: Offer): string {
  const formatted = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  if (formatted !== undefined) return formatted
  const preset = typeof schema.default === 'string' ? schema.default : undefined
  const text = offer.names.shift() ?? preset ?? `sandbox-${property}`
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, 10_000) : 0
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : text.length
  return text.padEnd(least, '-').slice(0, Math.max(least, most))
}
