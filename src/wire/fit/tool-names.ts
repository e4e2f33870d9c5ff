/**
 * Respells tool names that a model refuses. A respelled name depends only on the original name, so
 * each turn of a conversation sends the same name and prompt caches keep working.
 */
import { createHash } from 'node:crypto'
import type { ToolNameRule } from '../../core/request-rules.ts'
import type { ChatMessage, ChatRequest } from '../chat-request.ts'

/** Hexadecimal digits that distinguish two names with an equal beginning. */
const HASH_DIGITS = 8

export interface FittedNames {
  readonly request: ChatRequest
  /** Respelled name → the caller's name. */
  readonly originals: ReadonlyMap<string, string>
}

export function fitToolNames(request: ChatRequest, rule: ToolNameRule): FittedNames | undefined {
  const names = namesIn(request)
  const accepted = new Set([...names].filter((name) => respell(name, rule, 0) === name))
  if (accepted.size === names.size) return undefined
  const originals = new Map<string, string>()
  const respelled = new Map<string, string>()
  for (const name of names) {
    if (accepted.has(name)) continue
    let digits = HASH_DIGITS
    let spelled = respell(name, rule, digits)
    while (accepted.has(spelled) || originals.has(spelled)) {
      digits += 1
      spelled = respell(name, rule, digits)
    }
    originals.set(spelled, name)
    respelled.set(name, spelled)
  }
  return { request: withNames(request, (name) => respelled.get(name) ?? name), originals }
}

/** @param digits of the hash at the end; 0 for the name itself when the model accepts it */
function respell(name: string, rule: ToolNameRule, digits: number): string {
  const { maxLength } = rule
  const plain = name.replace(refusedIn(rule), '_')
  if (digits === 0) return plain.slice(0, maxLength)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, digits)
  return `${plain.slice(0, maxLength - hash.length - 1)}_${hash}`
}

/** Compiled once per rule, because rules are few and live as long as the process or a reload. */
const refused = new WeakMap<ToolNameRule, RegExp>()

function refusedIn(rule: ToolNameRule): RegExp {
  const { characters, first } = rule
  let pattern = refused.get(rule)
  if (pattern === undefined) {
    const beginning = first === undefined ? '' : `|^[^${first}]`
    pattern = new RegExp(`[^${characters}]${beginning}`, 'g')
    refused.set(rule, pattern)
  }
  return pattern
}

function namesIn({ tools = [], toolChoice, messages }: ChatRequest): Set<string> {
  const names = new Set(tools.map(({ name }) => name))
  if (toolChoice?.type === 'tool') names.add(toolChoice.name)
  for (const message of messages)
    if (message.role === 'assistant')
      for (const part of message.content) if (part.type === 'tool-call') names.add(part.name)
  return names
}

function withNames(request: ChatRequest, toName: (name: string) => string): ChatRequest {
  const { tools, toolChoice, messages } = request
  return {
    ...request,
    messages: messages.map((message) => withCallNames(message, toName)),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ ...tool, name: toName(tool.name) })) }),
    ...(toolChoice?.type === 'tool'
      ? { toolChoice: { ...toolChoice, name: toName(toolChoice.name) } }
      : {}),
  }
}

function withCallNames(message: ChatMessage, toName: (name: string) => string): ChatMessage {
  if (message.role !== 'assistant') return message
  const content = message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, name: toName(part.name) } : part,
  )
  return { ...message, content }
}
