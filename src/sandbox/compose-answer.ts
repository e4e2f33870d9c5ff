/**
 * Composes the answer to a prompt: text, tool calls, or JSON that matches a schema. Deterministic.
 */
import type { UnnamedToolChoice } from '../core/chat-words.ts'
import { countTokens, splitTokens } from './count-tokens.ts'
import { fillSchema } from './fill-schema.ts'
import { objectOf } from './json.ts'
import type { Fault } from './parse-model.ts'

export const JSON_OBJECT = {
  type: 'object',
  properties: { sandbox: { const: true }, echo: { type: 'string' } },
} as const

const WORDS = ['sandbox', 'echo', 'gate', 'relay', 'stream', 'token', 'ledger', 'upstream'] as const
const MAX_WORDS = 200_000

/** "repeat 500 words" in a prompt asks for that many words; null without it. */
function repeatWords(prompt: string): string | null {
  const asked = /\brepeat (\d{1,9}) words?\b/i.exec(prompt)
  if (!asked) return null
  const length = Math.min(Number(asked[1]), MAX_WORDS)
  return Array.from({ length }, (_, index) => WORDS[index % WORDS.length]).join(' ')
}

/** The seed makes the visible thoughts of requests differ. */
export function composeThoughts(seed: string): string {
  return `Sandbox reasoning: there is nothing to think about. ${seed.slice(0, 16)}`
}

/** A comment that shows the text before and after the gap. */
export function composeMiddle(before: string, after: string): string {
  const tail = before.trimEnd().split('\n').at(-1)?.trim().slice(-40) ?? ''
  const start = after.trimStart().split('\n')[0]?.trim().slice(0, 40) ?? ''
  return `/* Sandbox middle: after ${JSON.stringify(tail)}, before ${JSON.stringify(start)} */`
}

export interface ToolOffer {
  readonly name: string
  readonly parameters: unknown
}

export type ToolChoice =
  | { readonly type: UnnamedToolChoice }
  | { readonly type: 'named'; readonly name: string }

export interface Prompt {
  readonly lastUserText: string
  /** Used instead of the echo, for the middle of a FIM request. */
  readonly literalText?: string
  /**
   * Tool outputs at the end of the input: the answer quotes them instead of calling tools again.
   */
  readonly toolOutputs: readonly string[]
  readonly tools: readonly ToolOffer[]
  readonly toolChoice: ToolChoice
  readonly isParallel: boolean
  /** Token limit, including reasoning; null: no limit. */
  readonly maxOutputTokens: number | null
  readonly stop: readonly string[]
  /** Set: the text is JSON; an empty schema means any object. */
  readonly schema?: unknown
  readonly reasoningTokens: number
}

interface ComposedCall {
  readonly name: string
  readonly arguments: string
}

export interface Composition {
  /**
   * The whole text; for a `big` answer only its first piece. Null: tools were called, or the limit
   * was reached first.
   */
  readonly text: string | null
  /** The text as streamed pieces. Lazy, because a `big` answer exceeds memory. */
  pieces(): Iterable<string>
  readonly calls: readonly ComposedCall[]
  readonly finish: 'stop' | 'length' | 'tool_calls'
  /** The stop text that ended the answer. */
  readonly stoppedBy: string | null
  /**
   * The answer is too long to be joined. `text` is its start, and contains nothing that JSON would
   * escape.
   */
  readonly isBig: boolean
  readonly reasoningTokens: number
  readonly outputTokens: number
}

export function composeAnswer(prompt: Prompt, fault: Fault | null): Composition {
  if (fault?.name === 'big') return composeBig(fault.amount ?? 1, prompt.reasoningTokens)
  const calls = composeCalls(prompt)
  if (calls.length > 0) return limitCalls(calls, prompt)
  return limitText(composeText(prompt), prompt)
}

function composeText(prompt: Prompt): string {
  if (prompt.schema !== undefined)
    return JSON.stringify(fillSchema(prompt.schema, prompt.lastUserText))
  if (prompt.toolOutputs.length > 0)
    return `Sandbox echo of tool outputs: ${prompt.toolOutputs.join('; ')}`
  return (
    repeatWords(prompt.lastUserText) ?? prompt.literalText ?? `Sandbox echo: ${prompt.lastUserText}`
  )
}

function composeCalls(prompt: Prompt): ComposedCall[] {
  if (prompt.toolChoice.type === 'none' || prompt.toolOutputs.length > 0) return []
  const chosen = chooseTools(prompt)
  const names = prompt.tools.map((tool) => tool.name)
  return (prompt.isParallel ? chosen : chosen.slice(0, 1)).map((tool) => ({
    name: tool.name,
    arguments: composeArguments(tool.parameters, prompt.lastUserText, names),
  }))
}

function composeArguments(parameters: unknown, text: string, toolNames: readonly string[]): string {
  const filled = fillSchema(parameters ?? { type: 'object' }, text, toolNames)
  return JSON.stringify(objectOf(filled))
}

/** Tools named in the prompt, in order. A forced choice needs no name in the prompt. */
function chooseTools({ tools, toolChoice, lastUserText }: Prompt): ToolOffer[] {
  if (toolChoice.type === 'named')
    return tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1)
  const mentioned = tools
    .map((tool) => ({ tool, at: lastUserText.search(mentionOf(tool.name)) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)
    .map(({ tool }) => tool)
  return mentioned.length > 0 || toolChoice.type === 'auto' ? mentioned : tools.slice(0, 1)
}

/** Whole words only; `get_weather` may be written "get weather". */
function mentionOf(name: string): RegExp {
  const words = name.split(/[_-]+/).map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&'))
  return new RegExp(`(?<![\\p{L}\\p{N}])${words.join('[ _-]+')}(?![\\p{L}\\p{N}])`, 'iu')
}

function limitCalls(calls: readonly ComposedCall[], prompt: Prompt): Composition {
  const tokens = calls.reduce(
    (sum, call) => sum + countTokens(call.name) + countTokens(call.arguments),
    0,
  )
  const total = prompt.reasoningTokens + tokens
  if (prompt.maxOutputTokens !== null && total > prompt.maxOutputTokens) return cutOff(prompt)
  return {
    text: null,
    pieces: () => [],
    calls,
    finish: 'tool_calls',
    stoppedBy: null,
    isBig: false,
    reasoningTokens: prompt.reasoningTokens,
    outputTokens: total,
  }
}

function limitText(full: string, prompt: Prompt): Composition {
  const [end] = prompt.stop
    .map((stop) => ({ stop, at: stop === '' ? -1 : full.indexOf(stop) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)
  const tokens = splitTokens(end === undefined ? full : full.slice(0, end.at))
  const budget = (prompt.maxOutputTokens ?? Number.POSITIVE_INFINITY) - prompt.reasoningTokens
  if (budget <= 0) return cutOff(prompt)
  const kept = tokens.length > budget ? tokens.slice(0, budget) : tokens
  return {
    text: kept.join(''),
    pieces: () => kept,
    calls: [],
    finish: kept.length < tokens.length ? 'length' : 'stop',
    stoppedBy: kept.length < tokens.length ? null : (end?.stop ?? null),
    isBig: false,
    reasoningTokens: prompt.reasoningTokens,
    outputTokens: prompt.reasoningTokens + kept.length,
  }
}

/** The limit was used up before any text, as happens with reasoning models. */
function cutOff({ maxOutputTokens, reasoningTokens }: Prompt): Composition {
  const used = Math.max(0, Math.floor(maxOutputTokens ?? 0))
  return {
    text: null,
    pieces: () => [],
    calls: [],
    finish: 'length',
    stoppedBy: null,
    isBig: false,
    reasoningTokens: Math.min(reasoningTokens, used),
    outputTokens: used,
  }
}

const BIG_PIECE = 'sandbox big text '.repeat(1024).slice(0, 16 * 1024)
const BIG_PIECES_PER_MEGABYTE = 64

function composeBig(megabytes: number, reasoningTokens: number): Composition {
  const count = Math.max(1, megabytes * BIG_PIECES_PER_MEGABYTE)
  return {
    text: BIG_PIECE,
    *pieces() {
      for (let index = 0; index < count; index++) yield BIG_PIECE
    },
    calls: [],
    finish: 'stop',
    stoppedBy: null,
    isBig: true,
    reasoningTokens,
    outputTokens: reasoningTokens + count * countTokens(BIG_PIECE),
  }
}
