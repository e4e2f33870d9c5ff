/**
 * How fill-in-the-middle is spoken to an upstream that has another form for it, from the request in
 * the gateway's own terms. Knows no provider.
 */
import type { ChatAnswer } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { EncodeTarget, StreamDecoder } from '../codec.ts'
import { FIM_SETTINGS } from '../mistral-fim/settings.ts'
import { type At, asText, member, optionalText, present } from '../read-json.ts'
import { decodeSettings } from '../settings.ts'

interface EncodedFim {
  readonly body: JsonRecord
  /** Members of the caller's body that this target cannot take. */
  readonly ignored: readonly string[]
}

export interface FimCodec {
  readonly form: 'fim'
  /** @throws GatewayError `invalid_request` when the target cannot express what was asked at all */
  encodeRequest(request: FimRequest, target: Pick<EncodeTarget, 'model' | 'traits'>): EncodedFim
  /** @throws UnreadableAnswerError */
  decodeAnswer(answer: JsonRecord): ChatAnswer
  createEventDecoder(): StreamDecoder
}

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
  const { maxOutputTokens, stop = [], ...settings } = decodeSettings(root, FIM_SETTINGS)
  return {
    prompt: asText(at('prompt')),
    suffix: optionalText(at('suffix')) ?? '',
    stream: body.stream === true,
    stop,
    ...settings,
    ...present({ maxTokens: maxOutputTokens }),
    unplaced: UNPLACED.filter((name) => at(name).value !== undefined),
  }
}
