/**
 * Failures that an upstream reports behind a 200: which status it would have told them with. Pure.
 */
import { isContextCode } from './context-full.ts'
import { faultOf } from './unusable-target.ts'

/** By the names that vendors give to kinds of failures, in lower case and without `_` and `-`. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ...[
    'overloadederror', // Anthropic
    'overloaded',
    'serveroverloaded', // OpenAI
    'serverisoverloaded', // OpenAI
    'engineoverloadederror', // Kimi
    'unavailable', // Google
    'unavailableerror', // llama.cpp
    'serviceunavailable',
    'serviceunavailableerror',
    'serviceunavailableexception', // Bedrock
  ].map((name) => [name, 503] as const),
  ...[
    'ratelimiterror', // Anthropic
    'ratelimitexceeded', // OpenAI
    'toomanyrequests',
    'resourceexhausted', // Google
    'throttlingexception', // Bedrock
    'insufficientquota', // OpenAI
  ].map((name) => [name, 429] as const),
  ...[
    'invalidrequesterror', // Anthropic, OpenAI
    'invalidrequest',
    'invalidargument', // Google
    'validationexception', // Bedrock
    'badrequesterror', // vLLM
  ].map((name) => [name, 400] as const),
  ['billingerror', 402], // Anthropic
  ['notfounderror', 404], // Anthropic
  ['requesttoolarge', 413], // Anthropic
])

/** As codes some are HTTP's own, which count where they say that the failure may pass. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 503, 529])

/** The members of an error that name its kind. */
export interface FailureNames {
  readonly code?: unknown
  readonly type?: unknown
  readonly status?: unknown
}

/**
 * The name of a failure's kind: the one of its names that says most, which is rarely the type of
 * OpenAI and those who copied it.
 */
export function kindOfFailure(error: FailureNames): string | undefined {
  const names = [error.code, error.type, error.status].flatMap((name) =>
    typeof name === 'string' && name !== '' ? [name] : typeof name === 'number' ? [`${name}`] : [],
  )
  return (
    names.find((name) => isContextCode(name) || faultOf(name) !== undefined) ??
    names.find((name) => statusOfKind(name) !== undefined) ??
    names[0]
  )
}

/** @returns undefined: nothing tells whether the caller or the upstream is at fault */
export function statusOfKind(kind: string | undefined): number | undefined {
  if (kind === undefined) return undefined
  const code = Number(kind)
  if (PASSING.has(code)) return code
  return STATUSES.get(kind.toLowerCase().replaceAll(/[_-]/g, ''))
}
