/**
 * A dialect's settings as a table of names, types and bounds. The table drives decoding, encoding,
 * gates' defaults and the report of ignored settings.
 */
import type { ChatSettings, JsonRecord, JsonValue } from './chat-request.ts'
import type { Feature } from './codec.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  member,
  optionalFlag,
  optionalNumber,
  optionalRecord,
  optionalText,
  optionalTexts,
} from './read-json.ts'
import type { FieldTypes, JsonType } from './request-fields.ts'
import type { Shape } from './unread.ts'

export type SettingName = keyof ChatSettings

/** A new setting is a type error here until it is listed. */
const ALL: Readonly<Record<SettingName, true>> = {
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  topK: true,
  stop: true,
  seed: true,
  presencePenalty: true,
  frequencyPenalty: true,
  logprobs: true,
  topLogprobs: true,
  tools: true,
  toolChoice: true,
  parallelToolCalls: true,
  responseFormat: true,
  reasoning: true,
  user: true,
  metadata: true,
  serviceTier: true,
  promptCacheKey: true,
}
const SETTING_NAMES = Object.keys(ALL) as readonly SettingName[]

const TYPES = {
  number: { json: ['number'], read: optionalNumber },
  flag: { json: ['boolean'], read: optionalFlag },
  text: { json: ['string'], read: optionalText },
  texts: { json: ['string', 'array'], read: optionalTexts },
  list: {
    json: ['array'],
    read: (at) => (at.value === undefined ? undefined : asList(at).map(asText)),
  },
  record: { json: ['object'], read: (at) => optionalRecord(at)?.value },
} as const satisfies Readonly<
  Record<string, { readonly json: readonly JsonType[]; read(at: At): unknown }>
>

interface SettingOptions {
  /** The smallest number that upstreams accept. Smaller numbers are raised to it. */
  readonly least?: number
  /** The largest number, or the most texts, that upstreams accept. */
  readonly most?: number
  /** The part of the value that the decoder reads. Undefined: all of it. */
  readonly shape?: Shape
  readonly json?: readonly JsonType[]
}

export interface Setting extends SettingOptions {
  /** `own`: the dialect's codec reads and writes the value. */
  readonly type: keyof typeof TYPES | 'own'
  /** Paths of members, such as `metadata.user_id`. The first path is written. */
  readonly names: readonly string[]
}

/** Absent settings are those that the dialect does not support. */
export type Settings = Partial<Readonly<Record<SettingName, Setting>>>

function setting(type: Setting['type']) {
  return (names = '', options: SettingOptions = {}): Setting => ({
    ...options,
    type,
    names: names === '' ? [] : names.split(' '),
  })
}

export const number = setting('number')
export const flag = setting('flag')
export const text = setting('text')
export const texts = setting('texts')
export const list = setting('list')
export const record = setting('record')
export const own = setting('own')

/**
 * Reads all except `own` settings.
 * @throws GatewayError `invalid_request` naming the member with a wrong type
 */
export function decodeSettings(root: At<JsonRecord>, settings: Settings): ChatSettings {
  const decoded: Partial<Record<SettingName, unknown>> = {}
  for (const name of SETTING_NAMES) {
    const { type, names } = settings[name] ?? NOWHERE
    if (type === 'own') continue
    for (const path of names) {
      decoded[name] = TYPES[type].read(memberAt(root, path))
      if (decoded[name] !== undefined) break
    }
    if (decoded[name] === undefined) delete decoded[name]
  }
  return decoded as ChatSettings
}

const NOWHERE: Setting = { type: 'own', names: [] }

function memberAt(root: At<JsonRecord>, path: string): At {
  const [outer = '', inner] = path.split('.')
  const found = member(root, outer)
  return inner === undefined || found.value === undefined ? found : member(asRecord(found), inner)
}

export interface EncodeOptions {
  readonly ignored: Set<Feature>
  readonly refused?: readonly SettingName[]
  readonly except?: readonly SettingName[]
}

/** Writes all except `own` settings, and records those that the dialect does not support. */
export function encodeSettings(
  request: ChatSettings,
  settings: Settings,
  { ignored, refused = [], except = [] }: EncodeOptions,
): JsonRecord {
  const members: Record<string, JsonValue> = {}
  for (const name of SETTING_NAMES)
    if (request[name] !== undefined && settings[name] === undefined) ignored.add(name)
  for (const name of refused) if (request[name] !== undefined) ignored.add(name)
  for (const name of SETTING_NAMES) {
    const value = request[name]
    const { type, names, ...bounds } = settings[name] ?? NOWHERE
    const [path = ''] = names
    if (value === undefined || type === 'own') continue
    if (refused.includes(name) || except.includes(name)) continue
    const fitting = fit(value as JsonValue, bounds)
    if (fitting !== value) ignored.add(name)
    write(members, path, fitting)
  }
  return members
}

export function fit<Value extends JsonValue>(
  value: Value,
  { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: SettingOptions,
): Value | JsonValue {
  if (typeof value === 'number') return Math.min(most, Math.max(least, value))
  return Array.isArray(value) && value.length > most ? value.slice(0, most) : value
}

function write(members: Record<string, JsonValue>, path: string, value: JsonValue): void {
  const [outer = '', inner] = path.split('.')
  if (inner === undefined) members[outer] = value
  else members[outer] = { ...(members[outer] as JsonRecord | undefined), [inner]: value }
}

export function membersOf(settings: Settings): readonly string[] {
  const paths = Object.values(settings).flatMap(({ names }) => names)
  return [...new Set(paths.map((path) => path.split('.', 1)[0] ?? path))]
}

/** Top-level member → the parts of the settings that a decoder reads. */
export function shapesOf(settings: Settings): Readonly<Record<string, Shape>> {
  return Object.fromEntries(
    Object.values(settings).flatMap(({ names: [name = ''], shape }) =>
      shape === undefined ? [] : [[name.split('.', 1)[0] ?? name, shape]],
    ),
  )
}

/**
 * Settings checked before a target is chosen, in dialects whose callers may send other settings
 * freely.
 */
export const CHECKED_SETTINGS: readonly SettingName[] = ['maxOutputTokens', 'tools', 'toolChoice']

/**
 * The JSON types of the settings' members, for the check before a target is chosen.
 * @param checked undefined: all settings
 */
export function typesOf(settings: Settings, checked?: readonly SettingName[]): FieldTypes {
  const types: Record<string, readonly JsonType[]> = {}
  for (const [name, { names, type, json }] of Object.entries(settings)) {
    if (checked?.includes(name as SettingName) === false) continue
    for (const path of names) {
      const [outer = path, inner] = path.split('.')
      if (inner !== undefined) types[outer] = ['object']
      else types[outer] = json ?? (type === 'own' ? [] : TYPES[type].json)
    }
  }
  return types
}

export function nameFeature(
  feature: Feature,
  settings: Settings,
  others: Partial<Record<Feature, string>>,
): string {
  return others[feature] ?? settings[feature as SettingName]?.names[0] ?? feature
}
