/** OpenAI's errors, key and model list; Mistral shares all but the errors. */

import { badField, bearerOf, CREATED_AT, type Vendor } from '../dialect.ts'
import { isObject, type JsonObject } from '../json.ts'

export const openaiVendor: Vendor = {
  findKey: (request) => bearerOf(request.headers),
  idHeader: 'x-request-id',
  encodeRefusal: ({ status, message, type, param, code }) => ({
    status,
    body: { error: { message, type, param, code } },
  }),
  encodeModels: (ids) => ({
    object: 'list',
    data: ids.map((id) => ({
      id,
      object: 'model',
      created: CREATED_AT,
      owned_by: 'gatehouse-sandbox',
    })),
  }),
}

export const mistralVendor: Vendor = {
  ...openaiVendor,
  // The message is an object when a field did not validate.
  encodeRefusal: ({ status, message, detail, type, param, code }) => ({
    status,
    body: {
      object: 'error',
      message: detail ?? message,
      type,
      param,
      code,
      raw_status_code: status,
    },
  }),
}

type FieldKind =
  | 'any'
  | 'array'
  | 'boolean'
  | 'object'
  | 'string'
  | { readonly least: number; readonly most?: number; readonly whole?: true }

export type FieldTable = Readonly<Record<string, FieldKind>>

/**
 * Null is always valid.
 * @throws Refusal 400 `unknown_parameter`, `invalid_type`, `integer_below_min_value`,
 * `decimal_below_min_value` or their `_above_max_` variants.
 */
export function checkFields(body: JsonObject, table: FieldTable): void {
  for (const [name, value] of Object.entries(body)) {
    const kind = Object.hasOwn(table, name) ? table[name] : undefined
    if (kind === undefined)
      throw badField(`Unknown parameter: '${name}'.`, name, 'unknown_parameter')
    if (value === null || kind === 'any') continue
    if (typeof kind === 'object') checkNumber(name, value, kind)
    else if (!isKind(value, kind)) throw wrongType(name, kind, value)
  }
}

function isKind(value: unknown, kind: 'array' | 'boolean' | 'object' | 'string'): boolean {
  if (kind === 'array') return Array.isArray(value)
  return kind === 'object' ? isObject(value) : typeof value === kind
}

function checkNumber(name: string, value: unknown, range: Exclude<FieldKind, string>): void {
  const word = range.whole ? 'integer' : 'decimal'
  if (typeof value !== 'number' || (range.whole && !Number.isInteger(value)))
    throw wrongType(name, word, value)
  if (value < range.least) {
    const message =
      `Invalid '${name}': ${word} below minimum value. Expected a value >= ${range.least}, but ` +
      `got ${value} instead.`
    throw badField(message, name, `${word}_below_min_value`)
  }
  if (range.most !== undefined && value > range.most) {
    const message =
      `Invalid '${name}': ${word} above maximum value. Expected a value <= ${range.most}, but ` +
      `got ${value} instead.`
    throw badField(message, name, `${word}_above_max_value`)
  }
}

function wrongType(name: string, expected: string, value: unknown) {
  const got = Array.isArray(value) ? 'array' : typeof value
  return badField(
    `Invalid type for '${name}': expected ${expected}, but got ${got} instead.`,
    name,
    'invalid_type',
  )
}

/** Reasoning models refuse these sampling settings, whatever their value. */
export function refuseForReasoning(body: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    if (body[name] === undefined || body[name] === null) continue
    throw badField(`Unsupported parameter: '${name}' is not supported with this model.`, name)
  }
}

/** Reasoning is counted in steps of 64; `none` and `minimal` turn reasoning off. */
export function reasoningTokensFor(effort: unknown): number {
  if (effort === 'none' || effort === 'minimal') return 0
  if (effort === 'low') return 64
  return effort === 'high' || effort === 'xhigh' || effort === 'max' ? 192 : 128
}
