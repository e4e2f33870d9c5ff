/**
 * Encodes requests as Mistral's chat, with a whitelist because unknown members are refused (wire.md
 * §3.5). Must not know callers.
 */
import type {
  ChatRequest,
  JsonRecord,
  ReasoningOptions,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../chat-request.ts'
import type { EncodedRequest, EncodeTarget, Feature } from '../codec.ts'
import { assertSomebodySpeaks, NO_PARAMETERS, noteDisplay, refuseDemand } from '../encoder-parts.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { encodeSettings } from '../settings.ts'
import { encodeMessages } from './messages.ts'
import { EFFORTS, MISTRAL_SETTINGS } from './settings.ts'

/** @throws GatewayError `invalid_request` when a tool is required and there is none */
export function encodeMistralRequest(request: ChatRequest, target: EncodeTarget): EncodedRequest {
  const ignored = new Set<Feature>()
  const settings = encodeSettings(request, MISTRAL_SETTINGS, { ignored })
  if (request.tools?.some((tool) => tool.cache !== undefined)) ignored.add('cache')
  const { tools } = request
  const messages = encodeMessages(request.messages, { target, ignored })
  assertSomebodySpeaks(messages)
  return {
    body: {
      model: target.model,
      messages,
      ...(request.family === 'openai-chat' ? present({ n: request.extra.n }) : {}),
      ...encodePrediction(request),
      ...settings,
      ...present({
        random_seed: encodeSeed(request, ignored),
        tools: tools?.map(encodeTool),
        tool_choice: encodeToolChoice(request),
        parallel_tool_calls: tools === undefined ? undefined : request.parallelToolCalls,
        response_format: encodeFormat(request.responseFormat),
        reasoning_effort: encodeEffort(request, target, ignored),
        stream: request.stream ? true : undefined,
      }),
    } as JsonRecord,
    ignored: [...ignored],
  }
}

/** Members of OpenAI's that the format supports too. */
export const TAKEN = ['n', 'prediction'] as const

/** OpenAI's content may be a list of texts, Mistral's is a single text. */
function encodePrediction({ family, extra }: ChatRequest): JsonRecord {
  const { prediction } = extra
  if (family !== 'openai-chat' || !isRecord(prediction)) return {}
  const { content } = prediction
  const text = Array.isArray(content)
    ? content.flatMap((part) => (isRecord(part) ? (textOf(part.text) ?? []) : [])).join('')
    : content
  return { prediction: { ...prediction, ...present({ content: text }) } as JsonRecord }
}

/** Only whole numbers from zero are accepted. */
function encodeSeed({ seed }: ChatRequest, ignored: Set<Feature>): number | undefined {
  if (seed === undefined || (Number.isSafeInteger(seed) && seed >= 0)) return seed
  ignored.add('seed')
  return undefined
}

function encodeTool(tool: Tool): JsonRecord {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...present({ description: tool.description, strict: tool.strict }),
      parameters: tool.parameters ?? NO_PARAMETERS,
    },
  } as JsonRecord
}

function encodeToolChoice({ tools, toolChoice }: ChatRequest): string | JsonRecord | undefined {
  if (tools === undefined) refuseDemand(toolChoice)
  return tools === undefined || toolChoice === undefined ? undefined : toChoice(toolChoice)
}

function toChoice(choice: ToolChoice): string | JsonRecord {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } }
  return choice.type === 'required' ? 'any' : choice.type
}

function encodeFormat(format: ResponseFormat | undefined): JsonRecord | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type !== 'json-schema') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, schema, ...present({ description, strict }) } }
}

function encodeEffort(
  { reasoning }: ChatRequest,
  { traits }: EncodeTarget,
  ignored: Set<Feature>,
): string | undefined {
  if (reasoning === undefined) return undefined
  const word = reasoning.effort ?? toEffort(reasoning.budgetTokens) ?? wordFor(reasoning.thinking)
  if (word === undefined) return undefined
  const effort = EFFORTS[word]
  if (traits.reasoning === 'effort' && effort !== undefined) {
    if (reasoning.summary === 'none') ignored.add('reasoning.summary')
    noteDisplay(reasoning, ignored)
    return effort
  }
  if (word !== 'none' || traits.alwaysReasons === true) ignored.add('reasoning')
  return undefined
}

/** Only an effort word turns it on. */
function wordFor(thinking: ReasoningOptions['thinking']): string | undefined {
  return thinking === 'on' ? 'medium' : undefined
}

function toEffort(budgetTokens: number | undefined): string | undefined {
  if (budgetTokens === undefined) return undefined
  if (budgetTokens === 0) return 'none'
  return budgetTokens <= 2048 ? 'low' : budgetTokens <= 8192 ? 'medium' : 'high'
}
