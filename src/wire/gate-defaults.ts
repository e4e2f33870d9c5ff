/**
 * Decides which of a gate's defaults are written into a request, which of the caller's members they
 * replace, and the edits of a relayed body.
 */
import { invalidRequest } from '../core/errors.ts'
import type { Gate, GateDefaults } from '../core/gate.ts'
import type { ChatRequest } from './chat-request.ts'
import type { Feature, ModelTraits } from './codec.ts'
import {
  arrayElements,
  type JsonEdit,
  type JsonObject,
  scanJsonObject,
  spliceJson,
} from './json-splice.ts'
import { present } from './read-json.ts'
import { checkFieldTypes, presentMember } from './request-fields.ts'
import { fit, type Setting, type Settings } from './settings.ts'

const SETTINGS = ['temperature', 'topP', 'maxOutputTokens', 'reasoningEffort'] as const
export type DefaultedSetting = (typeof SETTINGS)[number]

interface ExplicitValue {
  /** The caller's own spelling: `reasoning.effort`. */
  readonly field: string
  readonly value: unknown
}

/**
 * Reads the caller's value of a setting in every possible place; null counts as not set.
 * @param decided the gate's value, for places that express the same in other words
 */
export type ReadExplicit = (
  body: JsonObject,
  setting: DefaultedSetting,
  decided: number | string,
) => readonly ExplicitValue[]

interface DecidedDefaults {
  readonly defaults: GateDefaults
  readonly ignored: readonly string[]
}

/** @throws GatewayError `invalid_request` naming the member that the gate forbids */
export function decideDefaults(
  { defaults, overrides }: Pick<Gate, 'defaults' | 'overrides'>,
  body: JsonObject,
  readExplicit: ReadExplicit,
): DecidedDefaults {
  const ignored: string[] = []
  const decided = SETTINGS.filter((setting) => {
    const value = defaults?.[setting]
    if (value === undefined) return false
    const explicit = readExplicit(body, setting, value)
    const others = explicit.filter((each) => each.value !== value)
    const [other] = others
    if (other === undefined) return explicit.length === 0
    if (overrides === 'reject') throw overrideRejected(other.field)
    if (overrides === 'allow') return false
    ignored.push(...others.map(({ field }) => field))
    return true
  })
  const settings = Object.fromEntries(decided.map((setting) => [setting, defaults?.[setting]]))
  return {
    defaults: { ...settings, ...present({ instructions: defaults?.instructions }) },
    ignored,
  }
}

export function overrideRejected(field: string) {
  return invalidRequest(
    `'${field}' is decided by this gate, which does not let requests override the value. Omit '${field}'.`,
    field,
    'overrides_rejected',
  )
}

/** A place is a top-level member or, after a dot, a member of an object. */
function explicitAt(places: Readonly<Record<DefaultedSetting, readonly string[]>>): ReadExplicit {
  return (body, setting) =>
    places[setting].flatMap((field) => {
      const value = readAt(body, field)
      return value === undefined ? [] : [{ field, value }]
    })
}

export function explicitIn({
  temperature,
  topP,
  maxOutputTokens,
  reasoning,
}: Required<
  Pick<Settings, 'temperature' | 'topP' | 'maxOutputTokens' | 'reasoning'>
>): ReadExplicit {
  return explicitAt({
    temperature: temperature.names,
    topP: topP.names,
    maxOutputTokens: maxOutputTokens.names,
    reasoningEffort: reasoning.names,
  })
}

function readAt(body: JsonObject, field: string): unknown {
  const [key = '', inner] = field.split('.')
  const member = presentMember(body, key)
  if (member === undefined) return undefined
  if (inner === undefined) return body.value(member)
  // The dialect's own check or the upstream refuses wrong types.
  if (body.type(member) !== 'object') return undefined
  return (body.value(member) as Readonly<Record<string, unknown>>)[inner] ?? undefined
}

/** For translated requests: applies the defaults as if the caller had set them. */
export function withDefaults(request: ChatRequest, defaults: GateDefaults): ChatRequest {
  const { instructions, temperature, topP, maxOutputTokens, reasoningEffort: effort } = defaults
  const summary = request.reasoning?.summary
  const render = request.renderTemplate ?? ((template: string) => template)
  return {
    ...request,
    ...present({ temperature, topP, maxOutputTokens }),
    ...present({
      reasoning: effort === undefined ? undefined : { effort, ...present({ summary }) },
    }),
    messages:
      instructions === undefined
        ? request.messages
        : [
            { role: 'system', content: [{ type: 'text', text: render(instructions) }] },
            ...request.messages,
          ],
  }
}

const FEATURES: Readonly<Record<DefaultedSetting, readonly Feature[]>> = {
  temperature: ['temperature'],
  topP: ['topP'],
  maxOutputTokens: ['maxOutputTokens'],
  reasoningEffort: ['reasoning', 'reasoning.effort'],
}

/**
 * True when the gate's own defaults cause the conflict: the gate set the feature, or a setting that
 * excludes the feature.
 */
export function isDefaulted(
  feature: Feature,
  defaults: GateDefaults | undefined,
  traits: Pick<ModelTraits, 'takesOneSampling'> = {},
): boolean {
  const isExcluded = feature === 'topP' && traits.takesOneSampling === true
  if (isExcluded && defaults?.temperature !== undefined) return true
  return SETTINGS.some(
    (setting) => defaults?.[setting] !== undefined && FEATURES[setting].includes(feature),
  )
}

/** Separates a gate's instructions from the caller's when both are one text. */
const JOINT = '\n\n'

export class DefaultsEditor {
  readonly edits: JsonEdit[] = []
  readonly ignored: string[] = []
  readonly #body: JsonObject

  constructor(body: JsonObject) {
    this.#body = body
  }

  has(key: string): boolean {
    return presentMember(this.#body, key) !== undefined
  }

  set(key: string, value: unknown): void {
    if (value === undefined) return
    const member = this.#body.get(key)
    const json = JSON.stringify(value)
    this.edits.push(
      member === undefined ? { type: 'add', key, json } : { type: 'replace', member, json },
    )
  }

  /**
   * Writes a setting as the nearest value that upstreams accept.
   * @param isRefused this model does not support the setting
   */
  write(setting: Setting, value: number | undefined, isRefused = false): void {
    const [key = ''] = setting.names
    if (isRefused) this.leaveOut(key, value)
    if (isRefused || value === undefined) return
    const fitting = fit(value, setting)
    if (fitting !== value) this.ignored.push(key)
    this.set(key, fitting)
  }

  setInside(outer: string, key: string, value: unknown): void {
    const member = presentMember(this.#body, outer)
    if (member === undefined) {
      if (value !== undefined) this.set(outer, { [key]: value })
      return
    }
    checkFieldTypes(this.#body, { [outer]: ['object'] })
    const object = this.#scan(outer, this.#body.raw(member))
    const inner = new DefaultsEditor(object)
    if (value === undefined) inner.remove(key)
    else inner.set(key, value)
    if (inner.edits.length === 0) return
    this.edits.push({
      type: 'replace',
      member,
      json: decoder.decode(spliceJson(object, inner.edits)),
    })
  }

  remove(key: string): void {
    const member = this.#body.get(key)
    if (member !== undefined) this.edits.push({ type: 'remove', member })
  }

  /**
   * Removes the caller's value of a setting that the model does not support, and reports the gate's
   * default as ignored.
   */
  leaveOut(key: string, value: unknown): void {
    if (value === undefined) return
    this.remove(key)
    this.ignored.push(key)
  }

  /**
   * Puts a text before a text, or an element before an array's elements.
   * @param toElement gets the array's first element
   */
  prepend(
    key: string,
    text: string | undefined,
    toElement: (first: JsonObject | undefined) => Readonly<Record<string, unknown>>,
  ): void {
    if (text === undefined) return
    const member = presentMember(this.#body, key)
    if (member === undefined) {
      this.set(key, text)
      return
    }
    checkFieldTypes(this.#body, { [key]: ['string', 'array'] })
    if (this.#body.type(member) === 'string') {
      const isEmpty = member.valueEnd - member.valueStart === 2
      const inserted = JSON.stringify(isEmpty ? text : text + JOINT).slice(1, -1)
      this.edits.push({ type: 'insert', member, text: inserted })
      return
    }
    const [first] = arrayElements(this.#body, member, 1)
    const element = JSON.stringify(toElement(first === undefined ? undefined : this.#peek(first)))
    this.edits.push({ type: 'insert', member, text: first === undefined ? element : `${element},` })
  }

  #peek({ start, end }: { readonly start: number; readonly end: number }): JsonObject | undefined {
    try {
      return scanJsonObject(this.#body.bytes.subarray(start, end))
    } catch {
      // The upstream judges elements that are not objects, or have duplicate keys.
      return undefined
    }
  }

  #scan(name: string, bytes: Uint8Array): JsonObject {
    try {
      return scanJsonObject(bytes)
    } catch (error) {
      throw invalidRequest(`'${name}' is not usable: ${(error as Error).message}`, name)
    }
  }
}

const decoder = new TextDecoder()
