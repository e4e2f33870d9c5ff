/** Encodes requests as Responses for an upstream. Pitfalls, with their causes, are in README.md. */
import {
  type AssistantPart,
  type ChatMessage,
  type ChatRequest,
  effortOf,
  type FilePart,
  type ImagePart,
  type JsonRecord,
  type ReasoningPart,
  type ResponseFormat,
  type TextPart,
  type Tool,
  type ToolChoice,
  type ToolResult,
  toUrl,
  type UserPart,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import { noteDisplay, takesOnly } from '../codec-parts.ts'
import { present } from '../read-json.ts'
import { encodeSettings } from '../settings.ts'
import { RESPONSES_SETTINGS, toShortId } from './settings.ts'

/** Models that refuse sampling settings refuse all of these. */
const SAMPLING = ['temperature', 'topP', 'logprobs', 'topLogprobs'] as const

/** @throws GatewayError `invalid_request` for requests that the format cannot express at all */
export function encodeResponsesRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const isRefused = target.traits.refusesSampling === true
  const settings = encodeSettings(request, RESPONSES_SETTINGS, {
    ignored,
    refused: isRefused ? SAMPLING : [],
  })
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const input = encodeInput(request.messages, { target, ignored })
  const logprobs = isRefused ? undefined : countLogprobs(request)
  const members = present({
    ...settings,
    top_logprobs: logprobs,
    tools: request.tools?.map((tool) => encodeTool(tool)),
    tool_choice: encodeToolChoice(request.toolChoice),
    parallel_tool_calls: request.tools === undefined ? undefined : request.parallelToolCalls,
    text: encodeFormat(request.responseFormat),
    reasoning: encodeReasoning(request, target, ignored),
    include: encodeInclude(target, logprobs),
    user: request.user === undefined ? undefined : toShortId(request.user),
    prompt_cache_key:
      request.promptCacheKey === undefined ? undefined : toShortId(request.promptCacheKey),
    service_tier: encodeServiceTier(request, ignored),
    stream: request.stream ? true : undefined,
  }) as JsonRecord
  // The upstream stores answers by default, so `store` is always false.
  return { body: { model: target.model, input, ...members, store: false }, ignored: [...ignored] }
}

function countLogprobs({ topLogprobs, logprobs }: ChatRequest): number | undefined {
  return topLogprobs ?? (logprobs === true ? 0 : undefined)
}

/** OpenAI refuses encrypted reasoning for models that do not reason. */
function encodeInclude(
  { traits }: EncodeTarget,
  logprobs: number | undefined,
): string[] | undefined {
  const include = [
    ...(traits.reasoning === undefined ? [] : ['reasoning.encrypted_content']),
    ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ]
  return include.length === 0 ? undefined : include
}

/** OpenAI accepts a tool without arguments only with this schema, strict or not. */
const NO_PARAMETERS: JsonRecord = {
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: false,
}

/** A missing `strict` means true here and false elsewhere, so `strict` is always written. */
function encodeTool({ name, description, parameters, strict }: Tool): JsonRecord {
  return {
    type: 'function',
    name,
    ...present({ description }),
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? false,
  }
}

function encodeToolChoice(choice: ToolChoice | undefined): string | JsonRecord | undefined {
  if (choice === undefined) return undefined
  return choice.type === 'tool' ? { type: 'function', name: choice.name } : choice.type
}

function encodeFormat(format: ResponseFormat | undefined): JsonRecord | undefined {
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
      return { format: { type: 'text' } }
    case 'json':
      return { format: { type: 'json_object' } }
    case 'json-schema': {
      const { name, schema, description, strict } = format
      const shape = { type: 'json_schema', name: name ?? 'answer', schema }
      return { format: { ...shape, ...present({ description, strict }) } }
    }
  }
}

function encodeReasoning(
  { reasoning }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord | undefined {
  if (reasoning === undefined) return undefined
  const requested = effortOf(reasoning)
  if (traits.reasoning === undefined) {
    if (requested !== 'none') ignored.add('reasoning')
    return undefined
  }
  // Without a requested summary the model shows no reasoning.
  if (reasoning.display !== 'omitted') noteDisplay(reasoning, ignored)
  // A model that always thinks refuses the effort `none`.
  const isRefused = requested === 'none' && traits.alwaysReasons === true
  if (isRefused) ignored.add('reasoning.effort')
  const effort = isRefused ? undefined : requested === 'max' ? 'xhigh' : requested
  const summary = reasoning.summary === 'none' ? undefined : reasoning.summary
  return effort === undefined && summary === undefined ? undefined : present({ effort, summary })
}

/** Tiers differ between providers, so only the tier of an OpenAI Chat caller is sent. */
function encodeServiceTier(
  { serviceTier, family }: ChatRequest,
  ignored: Set<Feature>,
): string | undefined {
  if (serviceTier === undefined || family === 'openai-chat') return serviceTier
  ignored.add('serviceTier')
  return undefined
}

interface InputRules {
  readonly target: EncodeTarget
  readonly ignored: Set<Feature>
}

function encodeInput(messages: readonly ChatMessage[], rules: InputRules): JsonRecord[] {
  return messages.flatMap((message) => encodeItems(message, rules))
}

function encodeItems(message: ChatMessage, rules: InputRules): JsonRecord[] {
  switch (message.role) {
    case 'system':
      return [encodeMessage('developer', message.content, rules)]
    case 'user':
      if (message.name !== undefined) rules.ignored.add('message.name')
      return [encodeMessage('user', message.content, rules)]
    case 'assistant':
      if (message.name !== undefined) rules.ignored.add('message.name')
      return encodeAssistant(message.content, rules)
    case 'tool':
      return [encodeResult(message, rules)]
  }
}

function encodeMessage(role: string, parts: readonly UserPart[], rules: InputRules): JsonRecord {
  return { type: 'message', role, content: parts.map((part) => encodePart(part, rules)) }
}

function encodePart(part: UserPart, rules: InputRules): JsonRecord {
  if (part.type !== 'audio' && part.cache !== undefined) rules.ignored.add('cache')
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
    case 'audio':
      throw takesOnly('no audio')
  }
}

function encodeImage({ source, detail }: ImagePart): JsonRecord {
  return { type: 'input_image', image_url: toUrl(source), ...present({ detail }) }
}

/** A file inside the request needs a name. */
function encodeFile({ source, filename }: FilePart): JsonRecord {
  if (source.type === 'url') return { type: 'input_file', file_url: source.url }
  const name = filename ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document')
  return { type: 'input_file', filename: name, file_data: toUrl(source) }
}

/**
 * Each part is an item, in order. OpenAI refuses reasoning that does not directly precede its
 * result.
 */
function encodeAssistant(parts: readonly AssistantPart[], rules: InputRules): JsonRecord[] {
  const items: JsonRecord[] = []
  let reasoning: JsonRecord[] = []
  let words: JsonRecord[] | undefined
  const add = (item: JsonRecord): void => {
    items.push(...reasoning, item)
    reasoning = []
  }
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text === '') continue
      if (part.type === 'text' && part.cache !== undefined) rules.ignored.add('cache')
      if (words === undefined) {
        words = []
        add({ type: 'message', role: 'assistant', content: words })
      }
      words.push(
        part.type === 'text'
          ? { type: 'output_text', text: part.text }
          : { type: 'refusal', refusal: part.text },
      )
      continue
    }
    words = undefined
    if (part.type === 'reasoning') {
      reasoning.push(...encodeReasoningItem(part, rules))
      continue
    }
    if (part.seal !== undefined) rules.ignored.add('seals')
    if (part.cache !== undefined) rules.ignored.add('cache')
    add({
      type: 'function_call',
      call_id: toShortId(part.id),
      name: part.name,
      arguments: part.arguments,
    })
  }
  // An earlier answer was cut off during reasoning. OpenAI refuses reasoning without a following
  // item, so the reasoning is dropped.
  if (reasoning.length > 0) rules.ignored.add('reasoningParts')
  return items
}

/** Only the origin can decrypt the reasoning; unsealed reasoning is only for people. */
function encodeReasoningItem(
  { text, seal }: ReasoningPart,
  { target, ignored }: InputRules,
): JsonRecord[] {
  if (seal === undefined) return []
  const isReadable = seal.type === 'encrypted' && seal.origin === target.sealOrigin
  if (!isReadable || target.traits.reasoning === undefined) {
    ignored.add('seals')
    return []
  }
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  return [{ type: 'reasoning', summary, encrypted_content: seal.value }]
}

function encodeResult(result: ToolResult, rules: InputRules): JsonRecord {
  if (result.isError === true) rules.ignored.add('toolResult.isError')
  if (result.cache !== undefined) rules.ignored.add('cache')
  const texts = result.content.filter((part): part is TextPart => part.type === 'text')
  const output =
    texts.length === result.content.length && texts.every((part) => part.cache === undefined)
      ? texts.map((part) => part.text).join('\n')
      : result.content.map((part) => encodePart(part, rules))
  return { type: 'function_call_output', call_id: toShortId(result.callId), output }
}
