/**
 * A fill-in-the-middle request in the gateway's own terms, for servers that have another form for
 * it. Knows no target.
 */
import type { JsonRecord } from '../chat-request.ts'
import {
  type At,
  asList,
  asText,
  member,
  optionalNumber,
  optionalText,
  present,
} from '../read-json.ts'

export interface FimRequest {
  /** The code before the cursor. */
  readonly prompt: string
  /** The code after it; empty where there is none. */
  readonly suffix: string
  readonly stream: boolean
  readonly stop: readonly string[]
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly seed?: number
  /** Members that no other form has a place for, as the caller spells them. */
  readonly unplaced: readonly string[]
}

const UNPLACED = ['metadata', 'prompt_cache_key']

/**
 * Written where the caller sets no limit, in tokens: of the servers one writes 16 then, and others
 * until their context is full.
 */
export const DEFAULT_MAX_TOKENS = 512

/**
 * @param body what would be sent to an upstream of the caller's own dialect
 * @throws GatewayError `invalid_request` naming the path of what is wrong
 */
export function decodeFimRequest(body: JsonRecord): FimRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const at = (name: string) => member(root, name)
  const stop = at('stop')
  return {
    prompt: asText(at('prompt')),
    suffix: optionalText(at('suffix')) ?? '',
    stream: body.stream === true,
    stop:
      typeof stop.value === 'string'
        ? [stop.value]
        : stop.value === undefined
          ? []
          : asList(stop).map(asText),
    ...present({
      maxTokens: optionalNumber(at('max_tokens')),
      temperature: optionalNumber(at('temperature')),
      topP: optionalNumber(at('top_p')),
      seed: optionalNumber(at('random_seed')),
    }),
    unplaced: UNPLACED.filter((name) => at(name).value !== undefined),
  }
}
