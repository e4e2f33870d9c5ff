/**
 * A gate's `adapt` on relayed requests: optional members that the target's model refuses are left
 * out or renamed. Refusals are learned from the upstream's 400.
 */
import { GatewayError } from '../../core/errors.ts'
import {
  type OptionalSetting,
  type RequestRules,
  SAMPLING_SETTINGS,
} from '../../core/request-rules.ts'
import type { AcceptedRequest } from '../../wire/dialect.ts'
import { fitEffort } from '../../wire/fit/settings.ts'
import { type JsonEdit, scanJsonObject, spliceJson } from '../../wire/json-splice.ts'
import { isRecord } from '../../wire/read-json.ts'
import type { Target } from '../plan/compile-target.ts'
import { STREAM_OPTIONS } from './refused-members.ts'

/** Members that can be left out without changing the meaning of a request. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'min_p', 'presence_penalty', 'frequency_penalty'],
  ...['repetition_penalty', 'logprobs', 'top_logprobs', 'logit_bias', 'seed', 'user'],
  ...['safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'service_tier'],
  ...['parallel_tool_calls', 'reasoning_effort', 'verbosity', 'metadata', 'store'],
])

/** Other names of members whose loss would change the answer. */
const RENAMED: Readonly<Record<string, string>> = { max_tokens: 'max_completion_tokens' }

const REFUSING: ReadonlySet<number> = new Set([400, 422])

/**
 * Phrases by which vendors report that a model does not support a member. A member with a value out
 * of bounds does not match.
 */
const UNSUPPORTED =
  /unsupported|not support|unrecogni[sz]ed|unknown (?:parameter|argument|field)|extra inputs|cannot both|not permitted|deprecated for/i

/**
 * The member of the request that an upstream's refusal names, if the request can do without it.
 * OpenAI names it in `param`, Anthropic and others in the message.
 */
export function refusedMember(
  thrown: unknown,
  { body }: Pick<AcceptedRequest, 'body'>,
): string | undefined {
  if (!(thrown instanceof GatewayError)) return undefined
  const { kind, status, message, details } = thrown
  if (kind !== 'upstream_error' || !REFUSING.has(status)) return undefined
  const { param, code } = refusalIn(details)
  if (!UNSUPPORTED.test(message) && !/^(?:unsupported|unknown)_/.test(code ?? '')) return undefined
  const isOptional = (name: string) => {
    if (body.get(name) === undefined) return false
    const renamed = RENAMED[name]
    return renamed === undefined ? OPTIONAL.has(name) : message.includes(renamed)
  }
  if (param !== undefined) return isOptional(param) ? param : undefined
  return [...message.matchAll(/[a-z][a-z_]+/g)].map(([name]) => name).find(isOptional)
}

const STREAM_USAGE = /\bstream_options\b|\binclude_usage\b/

/** True when a target refused the member and the gateway, not the caller, had added the member. */
export function refusesStreamOptions(
  thrown: unknown,
  { body, stream }: Pick<AcceptedRequest, 'body' | 'stream'>,
): thrown is GatewayError {
  if (!stream || !(thrown instanceof GatewayError)) return false
  const { kind, status, message } = thrown
  if (kind !== 'upstream_error' || !REFUSING.has(status) || !STREAM_USAGE.test(message))
    return false
  const member = body.get(STREAM_OPTIONS)
  return member === undefined || body.type(member) === 'null'
}

/** Bounds the label of a metric, because a vendor may name anything. */
const KNOWN: ReadonlySet<string> = new Set([
  ...OPTIONAL,
  ...Object.entries(RENAMED).flat(),
  ...['messages', 'input', 'instructions', 'system', 'tools', 'tool_choice', 'response_format'],
  ...[
    'text',
    'reasoning',
    'thinking',
    'output_config',
    'max_output_tokens',
    'stop',
    'n',
    'include',
  ],
  ...['stop_sequences', 'contents', 'generationConfig', 'model', 'stream', 'stream_options'],
])

/**
 * The top-level member that an upstream's refusal names in `param`, for the metric of refusals.
 * @returns undefined when the failure is no refusal of the request or names no member
 */
export function namedMember({ kind, status, details }: GatewayError): string | undefined {
  if (kind !== 'upstream_error' || !REFUSING.has(status)) return undefined
  const member = refusalIn(details).param?.split(/[.[]/, 1)[0]
  return member === undefined || KNOWN.has(member) ? member : 'other'
}

function refusalIn(details: unknown): Partial<Record<'param' | 'code', string>> {
  const body = isRecord(details) ? details.body : undefined
  const error = isRecord(body) ? body.error : undefined
  if (!isRecord(error)) return {}
  const { param, code } = error
  return {
    ...(typeof param === 'string' ? { param } : {}),
    ...(typeof code === 'string' ? { code } : {}),
  }
}

const SETTING_MEMBERS: Readonly<Record<OptionalSetting, string>> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  parallelToolCalls: 'parallel_tool_calls',
  user: 'user',
  metadata: 'metadata',
  serviceTier: 'service_tier',
  promptCacheKey: 'prompt_cache_key',
}

/** The members that the model refuses according to the provider's data. */
export function knownRefusals({
  traits,
  rules,
  isReasoningModel,
}: Pick<Target, 'traits' | 'isReasoningModel'> & {
  readonly rules: RequestRules
}): readonly string[] {
  const settings = [
    ...(traits.refusesSampling === true ? SAMPLING_SETTINGS : []),
    ...(rules.refusedSettings ?? []),
  ]
  return [
    ...settings.map((name) => SETTING_MEMBERS[name]),
    ...(isReasoningModel && traits.maxCompletionTokens === true ? ['max_tokens'] : []),
  ]
}

const EFFORT = 'reasoning_effort'

/**
 * The effort that the model accepts in place of the caller's. Undefined: the caller's effort is
 * accepted, or the accepted efforts are not known.
 */
export function nearestEffort(
  { body }: Pick<AcceptedRequest, 'body'>,
  { efforts }: RequestRules,
): string | undefined {
  const member = efforts === undefined ? undefined : body.get(EFFORT)
  const requested = member === undefined ? undefined : body.value(member)
  if (typeof requested !== 'string') return undefined
  const nearest = fitEffort(requested, efforts)
  return nearest === requested ? undefined : nearest
}

export interface AdaptedRequest {
  readonly request: AcceptedRequest
  readonly ignored: readonly string[]
  readonly adapted: readonly string[]
}

/**
 * @param effort replaces the caller's, unless the model refuses the member
 * @returns undefined when the request has none of the members
 */
export function withoutMembers(
  request: AcceptedRequest,
  refused: readonly string[],
  effort?: string,
): AdaptedRequest | undefined {
  const { body } = request
  const edits: JsonEdit[] = []
  const ignored: string[] = []
  const adapted: string[] = []
  for (const name of new Set(refused)) {
    const member = body.get(name)
    if (member === undefined) continue
    const renamed = RENAMED[name]
    edits.push({ type: 'remove', member })
    if (renamed === undefined) ignored.push(name)
    else {
      if (body.get(renamed) === undefined)
        edits.push({ type: 'add', key: renamed, json: Buffer.from(body.raw(member)).toString() })
      adapted.push(name)
    }
  }
  const requested = effort === undefined || refused.includes(EFFORT) ? undefined : body.get(EFFORT)
  if (requested !== undefined) {
    edits.push({ type: 'replace', member: requested, json: JSON.stringify(effort) })
    ignored.push(EFFORT)
  }
  if (edits.length === 0) return undefined
  const edited = scanJsonObject(spliceJson(body, edits))
  return { request: { ...request, body: edited }, ignored, adapted }
}
