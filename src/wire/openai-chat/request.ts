/** Converts Chat Completions requests to and from the gateway's own terms. */
import {
  type ChatRequest,
  type ChatSettings,
  effortOf,
  type JsonRecord,
  type ResponseFormat,
  type Tool,
  type ToolChoice,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import { decodeSchemaFormat, decodeTool, noteDisplay } from '../codec-parts.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  member,
  optionalRecord,
  optionalText,
  present,
  unread,
} from '../read-json.ts'
import { decodeSettings, encodeSettings, membersOf } from '../settings.ts'
import { NameList, nameUnread } from '../unread.ts'
import { decodeMessages } from './inbound-messages.ts'
import { CHAT_SETTINGS, CHAT_SHAPES } from './settings.ts'
import { encodeUpstreamMessages } from './upstream-messages.ts'

/** Members that this decoder or the routing reads. All other members are kept in `extra`. */
const READ = new Set(['gate_id', 'model', 'messages', 'stream', ...membersOf(CHAT_SETTINGS)])

/** @throws GatewayError `invalid_request` naming the path of the error */
export function decodeChatRequest(body: JsonRecord): ChatRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const at = (name: string) => member(root, name)
  const ignored = new NameList()
  const messages = decodeMessages(at('messages'), ignored)
  const settings: ChatSettings = {
    ...decodeSettings(root, CHAT_SETTINGS),
    ...present({
      tools: decodeTools(at('tools'), ignored),
      toolChoice: decodeToolChoice(at('tool_choice'), ignored),
      responseFormat: decodeFormat(at('response_format')),
      reasoning: decodeReasoning(at('reasoning_effort')),
    }),
  }
  nameUnread(body, CHAT_SHAPES, ignored)
  return {
    ...settings,
    messages,
    stream: body.stream === true,
    extra: unread(body, READ),
    family: 'openai-chat',
    ignored: ignored.toArray(),
  }
}

function decodeTools(tools: At, ignored: NameList): Tool[] | undefined {
  if (tools.value === undefined) return undefined
  const decoded = asList(tools).flatMap((entry): Tool[] => {
    const tool = asRecord(entry)
    const type = asText(member(tool, 'type'))
    if (type !== 'function') {
      ignored.addKind(tool.path, type)
      return []
    }
    return [decodeTool(asRecord(member(tool, 'function')))]
  })
  return decoded.length === 0 ? undefined : decoded
}

function decodeToolChoice(choice: At, ignored: NameList): ToolChoice | undefined {
  const { value } = choice
  if (value === undefined) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string')
    throw invalidAt(choice, "must be 'auto', 'none', 'required' or an object.")
  const chosen = asRecord(choice)
  const type = asText(member(chosen, 'type'))
  if (type !== 'function') {
    ignored.addKind(choice.path, type)
    return undefined
  }
  return { type: 'tool', name: asText(member(asRecord(member(chosen, 'function')), 'name')) }
}

function decodeFormat(format: At): ResponseFormat | undefined {
  const given = optionalRecord(format)
  if (given === undefined) return undefined
  const type = member(given, 'type')
  switch (asText(type)) {
    case 'text':
      return { type: 'text' }
    case 'json_object':
      return { type: 'json' }
    case 'json_schema':
      return decodeSchemaFormat(asRecord(member(given, 'json_schema')))
    default:
      throw invalidAt(type, "must be 'text', 'json_object' or 'json_schema'.")
  }
}

function decodeReasoning(effort: At): ChatSettings['reasoning'] {
  const word = optionalText(effort)
  return word === undefined ? undefined : { effort: word }
}

const SAMPLING = ['temperature', 'topP'] as const
const OF_FAMILY = ['serviceTier', 'topK'] as const

export function encodeUpstreamRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { traits } = target
  const limit = traits.maxCompletionTokens === true ? 'max_completion_tokens' : 'max_tokens'
  const isOfFamily = request.family === 'openai-chat'
  const members = {
    ...encodeSettings(request, CHAT_SETTINGS, {
      ignored,
      refused: [
        ...(traits.refusesSampling === true ? SAMPLING : []),
        ...(isOfFamily ? [] : OF_FAMILY),
      ],
      except: ['maxOutputTokens', 'parallelToolCalls', 'user'],
    }),
    ...(present({
      [limit]: request.maxOutputTokens,
      tools: request.tools?.map(encodeTool),
      tool_choice: encodeToolChoice(request.toolChoice),
      parallel_tool_calls: request.tools === undefined ? undefined : request.parallelToolCalls,
      response_format: encodeFormat(request.responseFormat),
      ...encodeReasoning(request, target, ignored),
      user: request.user,
      stream: request.stream ? true : undefined,
      stream_options:
        request.stream && target.refusesStreamOptions !== true
          ? { include_usage: true }
          : undefined,
    }) as JsonRecord),
  }
  return {
    body: {
      ...(isOfFamily ? request.extra : {}),
      model: target.model,
      messages: encodeUpstreamMessages(request.messages, target, ignored),
      ...members,
    },
    ignored: [...ignored],
  }
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...present({
        description: tool.description,
        parameters: tool.parameters,
        strict: tool.strict,
      }),
    },
  } as JsonRecord
}

function encodeToolChoice(choice: ToolChoice | undefined): string | JsonRecord | undefined {
  if (choice === undefined) return undefined
  return choice.type === 'tool'
    ? { type: 'function', function: { name: choice.name } }
    : choice.type
}

function encodeFormat(format: ResponseFormat | undefined): JsonRecord | undefined {
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'json-schema':
      return {
        type: 'json_schema',
        json_schema: {
          name: format.name ?? 'answer',
          schema: format.schema,
          ...present({ description: format.description, strict: format.strict }),
        },
      }
  }
}

function encodeReasoning(
  { reasoning, family }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): JsonRecord {
  if (reasoning === undefined) return {}
  const effort = effortOf(reasoning)
  if (effort === 'none') {
    if (traits.alwaysReasons === true) {
      ignored.add('reasoning')
      return {}
    }
    if (traits.withoutThinking !== undefined) return traits.withoutThinking
  }
  const takesWords = traits.reasoning === 'effort'
  if (effort !== undefined && (takesWords || family === 'openai-chat')) {
    noteDisplay(reasoning, ignored)
    return { reasoning_effort: effort }
  }
  if (effort !== 'none' && !takesWords) ignored.add('reasoning')
  noteDisplay(reasoning, ignored)
  return {}
}
