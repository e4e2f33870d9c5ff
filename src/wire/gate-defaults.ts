/**
 * The decisions of a gate meet the request: which defaults are to be written, and which of the
 * caller's members have no effect. Knows no dialect: each brings its own spelling.
 */
import { invalidRequest } from '../core/errors.ts'
import type { Gate, GateDefaults } from '../core/gate.ts'
import type { ChatRequest } from './chat-request.ts'
import type { Feature, ModelTraits } from './codec.ts'
import type { JsonObject } from './json-splice.ts'
import { present } from './read-json.ts'
import { presentMember } from './request-fields.ts'
import type { Settings } from './settings.ts'

const SETTINGS = ['temperature', 'topP', 'maxOutputTokens', 'reasoningEffort'] as const
export type DefaultedSetting = (typeof SETTINGS)[number]

/** One place where the caller says something about a setting. */
export interface Spoken {
  /** The caller's own spelling: `reasoning.effort`. */
  readonly field: string
  readonly value: unknown
}

/**
 * The members in which a dialect's callers speak of a setting, at every place that it has for it;
 * null is nothing said.
 * @param decided the gate's value, for places that agree with it in words of their own
 */
export type ReadSpoken = (
  body: JsonObject,
  setting: DefaultedSetting,
  decided: number | string,
) => readonly Spoken[]

export interface DecidedDefaults {
  /** The members to be written into the request. */
  readonly defaults: GateDefaults
  /** The caller's members that have no effect. */
  readonly ignored: readonly string[]
}

/** @throws GatewayError `invalid_request` naming what the gate does not let its callers say */
export function decideDefaults(
  { defaults, overrides }: Pick<Gate, 'defaults' | 'overrides'>,
  body: JsonObject,
  readSpoken: ReadSpoken,
): DecidedDefaults {
  const ignored: string[] = []
  const decided = SETTINGS.filter((setting) => {
    const value = defaults?.[setting]
    if (value === undefined) return false
    const spoken = readSpoken(body, setting, value)
    const others = spoken.filter((each) => each.value !== value)
    const [other] = others
    if (other === undefined) return spoken.length === 0
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
    `'${field}' is decided by this gate, which does not let requests override it: leave it out.`,
    field,
    'overrides_rejected',
  )
}

/** For dialects whose settings are members of the top level or, after a dot, of an object there. */
export function spokenAt(
  places: Readonly<Record<DefaultedSetting, readonly string[]>>,
): ReadSpoken {
  return (body, setting) =>
    places[setting].flatMap((field) => {
      const value = readAt(body, field)
      return value === undefined ? [] : [{ field, value }]
    })
}

/** The same by the dialect's table of settings. */
export function spokenIn({
  temperature,
  topP,
  maxOutputTokens,
  reasoning,
}: Required<Pick<Settings, 'temperature' | 'topP' | 'maxOutputTokens' | 'reasoning'>>): ReadSpoken {
  return spokenAt({
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
  // Of another type: the dialect's own check refuses it, or the upstream's.
  if (body.type(member) !== 'object') return undefined
  return (body.value(member) as Readonly<Record<string, unknown>>)[inner] ?? undefined
}

/** For requests that are translated: the defaults as if the caller had said them. */
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
 * True where it is the gate's doing that the model cannot take it: the gate asked for it, or for
 * what excludes it.
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
