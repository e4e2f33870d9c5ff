/**
 * Turns in which a program that a model wrote earlier goes on and calls tools: no model reads or
 * writes, and vendors report 0 + 0. Only their marker makes that a report.
 */
import type { Usage } from '../core/usage.ts'
import { isRecord } from './read-json.ts'
import { readUsage, type UsageReader } from './usage.ts'

/** The part of an answer that one of its items is. `result`: the vendor's own, of a program. */
type Authorship = 'program' | 'result' | 'model'

/**
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling and
 * https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling
 * @param item a block of a message, or an item of a response's output
 */
export function authorOf(item: unknown): Authorship {
  if (!isRecord(item)) return 'model'
  const { type, caller } = item
  const by = isRecord(caller) ? caller.type : undefined
  if (by === 'program' || (typeof by === 'string' && by.startsWith('code_execution_')))
    return 'program'
  const isResult =
    type === 'program_output' || (typeof type === 'string' && type.endsWith('_tool_result'))
  return isResult ? 'result' : 'model'
}

/** True if a program wrote all of it. */
export function isProgramTurn(items: unknown): boolean {
  if (!Array.isArray(items)) return false
  const authors = items.map(authorOf)
  return authors.includes('program') && !authors.includes('model')
}

const NOTHING_USED: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
}

export interface ProgramReport {
  readonly reported: unknown
  readonly tier?: unknown
  /** Blocks of a message, or items of a response's output. */
  readonly items: unknown
}

/** As `readUsage`, and 0 + 0 is a report if a program wrote the answer. */
export function readUsageOfTurn(
  read: UsageReader,
  { reported, tier, items }: ProgramReport,
): Usage | null {
  const usage = readUsage(read, reported, tier)
  return usage ?? (reportsNothing(reported) && isProgramTurn(items) ? NOTHING_USED : null)
}

/** @param reported as both dialects name the counts */
export function reportsNothing(reported: unknown): boolean {
  if (!isRecord(reported)) return false
  const { input_tokens, output_tokens } = reported
  const { cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = reported
  return (
    input_tokens === 0 &&
    output_tokens === 0 &&
    (cache_read_input_tokens ?? 0) === 0 &&
    (cache_creation_input_tokens ?? 0) === 0
  )
}

/** The same for the blocks of a streamed message, which come one by one. */
export class ProgramBlocks {
  #hasProgram = false
  #hasModel = false

  note(block: unknown): void {
    const author = authorOf(block)
    if (author === 'program') this.#hasProgram = true
    else if (author === 'model') this.#hasModel = true
  }

  usageOf(reported: unknown): Usage | null {
    const isTurn = this.#hasProgram && !this.#hasModel
    return isTurn && reportsNothing(reported) ? NOTHING_USED : null
  }
}
