/** Reads and checks single top-level members of a request, for all dialects. */
import { invalidRequest } from '../core/errors.ts'
import type { JsonEdit, JsonMember, JsonObject } from './json-splice.ts'

export type JsonType = ReturnType<JsonObject['type']>

/** Field name → its JSON types. `null` is always allowed for an optional field. */
export type FieldTypes = Readonly<Record<string, readonly JsonType[]>>

/** @throws GatewayError `invalid_request` naming the first field with a wrong type */
export function checkFieldTypes(body: JsonObject, fields: FieldTypes): void {
  for (const member of body.members) {
    const allowed = Object.hasOwn(fields, member.key) ? fields[member.key] : undefined
    if (allowed === undefined) {
      refuseOtherLetters(member.key, fields)
      continue
    }
    const type = body.type(member)
    if (type !== 'null' && !allowed.includes(type)) {
      throw invalidRequest(
        `'${member.key}' must be ${describeTypes(allowed)}, but is ${describeTypes([type])}.`,
        member.key,
        'invalid_type',
      )
    }
  }
}

/** Members that the gateway itself writes or uses in every dialect. */
const OUR_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'gate_id',
  'stream',
  'stream_options',
  'store',
])
const SMALL_LETTERS = /^[a-z0-9_]*$/

/**
 * Servers written in Go read `Model` as `model`, and the last of duplicates, which could select
 * another model than the gate's (https://pkg.go.dev/encoding/json#Unmarshal). Go also accepts `ſ`
 * for an s and the Kelvin sign for a k.
 */
function refuseOtherLetters(key: string, fields: FieldTypes): void {
  if (SMALL_LETTERS.test(key)) return
  const small = key.toUpperCase().toLowerCase()
  if (!OUR_FIELDS.has(small) && !Object.hasOwn(fields, small)) return
  throw invalidRequest(
    `'${key}' differs from '${small}' only in case: some servers treat them as the same, others do not.`,
    key,
    'invalid_value',
  )
}

export function refuseFieldInOtherLetters(object: JsonObject, field: string): void {
  for (const { key } of object.members) refuseOtherLetters(key, { [field]: [] })
}

/** @throws GatewayError `invalid_request` when the field is absent or null. */
export function requireField(body: JsonObject, key: string): JsonMember {
  const member = body.get(key)
  if (member === undefined || body.type(member) === 'null') {
    throw invalidRequest(`'${key}' is required.`, key, 'missing_required_parameter')
  }
  return member
}

export function readFlag(body: JsonObject, key: string): boolean {
  const member = body.get(key)
  return member !== undefined && body.value(member) === true
}

export function presentMember(body: JsonObject, key: string): JsonMember | undefined {
  const member = body.get(key)
  return member === undefined || body.type(member) === 'null' ? undefined : member
}

export function askingMember(body: JsonObject, key: string): JsonMember | undefined {
  const member = presentMember(body, key)
  return member === undefined || isEmpty(body.raw(member)) ? undefined : member
}

function isEmpty(raw: Uint8Array): boolean {
  if (raw[0] === QUOTE) return raw.length === 2
  return raw[0] === OPEN_BRACKET && raw.subarray(1, -1).every((byte) => byte <= SPACE)
}

const QUOTE = 0x22
const OPEN_BRACKET = 0x5b
const SPACE = 0x20

export interface GateChoice {
  readonly gateId: string
  /** `model`, when it differs from a `gate_id` in the same request. */
  readonly ignored: readonly string[]
}

const GATE_FIELDS: FieldTypes = { gate_id: ['string'], model: ['string'] }

/** `gate_id` selects the gate, or else `model`. Both must be strings if present. */
export function readGate(body: JsonObject): GateChoice {
  checkFieldTypes(body, GATE_FIELDS)
  const gate = presentMember(body, 'gate_id')
  const model = presentMember(body, 'model')
  if (gate === undefined && model === undefined) {
    throw invalidRequest(
      "'model' is required: the id of a gate (or give it as 'gate_id').",
      'model',
      'missing_required_parameter',
    )
  }
  const modelName = model === undefined ? undefined : readString(body, model)
  if (gate === undefined) return { gateId: modelName ?? '', ignored: NOTHING_IGNORED }
  const gateId = readString(body, gate)
  const isAlone = modelName === undefined || modelName === gateId
  return { gateId, ignored: isAlone ? NOTHING_IGNORED : ['model'] }
}

export const NOTHING_IGNORED: readonly never[] = []

/** @throws GatewayError `invalid_request` for an empty string */
export function readString(body: JsonObject, member: JsonMember): string {
  const value = String(body.value(member))
  if (value === '')
    throw invalidRequest(`'${member.key}' must not be empty.`, member.key, 'invalid_value')
  return value
}

export function editModel(body: JsonObject, upstreamModel: string): JsonEdit[] {
  const edits = [setString(body, 'model', upstreamModel)]
  const gate = body.get('gate_id')
  if (gate !== undefined) edits.push({ type: 'remove', member: gate })
  return edits
}

/** For an upstream whose path names the model: removes gate and model, and writes `instead`. */
export function removeModel(
  body: JsonObject,
  instead: Readonly<Record<string, string>>,
): JsonEdit[] {
  return [
    ...Object.entries(instead).map(([key, value]) => setString(body, key, value)),
    ...removals(body, ['model', 'gate_id']),
  ]
}

function setString(body: JsonObject, key: string, value: string): JsonEdit {
  const member = body.get(key)
  const json = JSON.stringify(value)
  return member === undefined ? { type: 'add', key, json } : { type: 'replace', member, json }
}

function removals(body: JsonObject, keys: readonly string[]): JsonEdit[] {
  return keys
    .map((key) => body.get(key))
    .filter((member) => member !== undefined)
    .map((member) => ({ type: 'remove', member }))
}

function describeTypes(types: readonly JsonType[]): string {
  return types.map((type) => ARTICLES[type]).join(' or ')
}

const ARTICLES: Record<JsonType, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
  array: 'an array',
  object: 'an object',
}
