/** Decodes a Messages request to the gateway's own terms. */

import type {
  ChatRequest,
  ChatSettings,
  JsonRecord,
  ReasoningOptions,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
} from '../chat-request.ts'
import { decodeCacheHint, decodeTool } from '../codec-parts.ts'
import {
  type At,
  asList,
  asRecord,
  asText,
  invalidAt,
  member,
  optionalFlag,
  optionalNumber,
  optionalRecord,
  optionalText,
  present,
  unread,
} from '../read-json.ts'
import { decodeSettings, membersOf } from '../settings.ts'
import { NameList, nameUnread } from '../unread.ts'
import { blocksOf, decodeText, decodeTurns } from './inbound-messages.ts'
import { MESSAGES_SETTINGS, MESSAGES_SHAPES } from './settings.ts'

/** Members that this decoder or the routing reads. All other members are kept in `extra`. */
const READ = new Set([
  ...['gate_id', 'model', 'messages', 'system', 'stream', 'thinking'],
  ...membersOf(MESSAGES_SETTINGS),
])

/** @throws GatewayError `invalid_request` naming the path of the error */
export function decodeAnthropicRequest(body: JsonRecord): ChatRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const at = (name: string) => member(root, name)
  const ignored = new NameList()
  const { system, attribution } = splitAttribution(decodeSystem(at('system')))
  const turns = decodeTurns(at('messages'), ignored)
  const choice = optionalRecord(at('tool_choice'))
  const output = optionalRecord(at('output_config'))
  const settings: ChatSettings = {
    ...decodeSettings(root, MESSAGES_SETTINGS),
    ...present({
      tools: decodeTools(at('tools'), ignored),
      toolChoice: choice === undefined ? undefined : decodeToolChoice(choice),
      parallelToolCalls:
        choice !== undefined && optionalFlag(member(choice, 'disable_parallel_tool_use')) === true
          ? false
          : undefined,
      responseFormat:
        output === undefined ? undefined : decodeFormat(optionalRecord(member(output, 'format'))),
      reasoning: decodeThinking(optionalRecord(at('thinking')), output),
    }),
  }
  nameUnread(body, MESSAGES_SHAPES, ignored)
  return {
    ...settings,
    messages: system.length === 0 ? turns : [{ role: 'system', content: system }, ...turns],
    stream: body.stream === true,
    extra: unread(body, READ),
    family: 'anthropic-messages',
    ignored: ignored.toArray(),
    ...(attribution.length === 0 ? {} : { adapted: attribution }),
  }
}

// provider-name-ok: a value of the dialect
const ATTRIBUTION = 'x-anthropic-billing-header:'

/**
 * Claude Code's first block names the client's build, and Anthropic removes the block before the
 * model reads it. The block differs in every request and would defeat other providers' prompt
 * caches, so its first line is removed.
 */
function splitAttribution(system: TextPart[]): {
  readonly system: readonly TextPart[]
  readonly attribution: readonly string[]
} {
  const [first, ...others] = system
  if (first === undefined || !first.text.startsWith(ATTRIBUTION)) return { system, attribution: [] }
  const end = first.text.indexOf('\n')
  const text = end < 0 ? '' : first.text.slice(end).trimStart()
  return {
    system: text === '' ? others : [{ ...first, text }, ...others],
    attribution: ['system[0]'],
  }
}

function decodeSystem(system: At): TextPart[] {
  return system.value === undefined ? [] : blocksOf(system).map(decodeText)
}

function decodeTools(tools: At, ignored: NameList): Tool[] | undefined {
  if (tools.value === undefined) return undefined
  const decoded = asList(tools).flatMap((entry): Tool[] => {
    const tool = asRecord(entry)
    const type = optionalText(member(tool, 'type'))
    // Server-side tools (`web_search_…`) belong to the provider.
    if (type !== undefined && type !== 'custom') {
      ignored.addKind(tool.path, type)
      return []
    }
    return [{ ...decodeTool(tool, 'input_schema'), ...decodeCacheHint(tool) }]
  })
  return decoded.length === 0 ? undefined : decoded
}

function decodeToolChoice(choice: At<JsonRecord>): ToolChoice {
  const type = member(choice, 'type')
  switch (asText(type)) {
    case 'auto':
      return { type: 'auto' }
    case 'any':
      return { type: 'required' }
    case 'none':
      return { type: 'none' }
    case 'tool':
      return { type: 'tool', name: asText(member(choice, 'name')) }
    default:
      throw invalidAt(type, "must be 'auto', 'any', 'tool' or 'none'.")
  }
}

function decodeFormat(format: At<JsonRecord> | undefined): ResponseFormat | undefined {
  if (format === undefined) return undefined
  const type = member(format, 'type')
  if (asText(type) !== 'json_schema') throw invalidAt(type, "must be 'json_schema'.")
  return { type: 'json-schema', schema: asRecord(member(format, 'schema')).value }
}

function decodeThinking(
  thinking: At<JsonRecord> | undefined,
  output: At<JsonRecord> | undefined,
): ReasoningOptions | undefined {
  const effort = output === undefined ? undefined : optionalText(member(output, 'effort'))
  if (thinking === undefined)
    return effort === undefined ? undefined : { effort, thinking: 'unsaid' }
  const type = member(thinking, 'type')
  const display = optionalText(member(thinking, 'display'))
  switch (asText(type)) {
    case 'enabled': {
      const budgetTokens = optionalNumber(member(thinking, 'budget_tokens'))
      return present({ effort, budgetTokens, display })
    }
    case 'adaptive':
      return { thinking: 'on', ...present({ effort, display }) }
    // Only one model knows `between_tools`, so other models do not think.
    case 'between_tools':
    case 'disabled':
      return { effort: 'none' }
    default:
      throw invalidAt(type, "must be 'enabled', 'adaptive', 'between_tools' or 'disabled'.")
  }
}
