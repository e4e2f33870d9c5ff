/** Uses of tools that providers run themselves, mapped from each dialect's names. */
import {
  COUNTED_TOOLS,
  type CountedTool,
  MAX_USES_OF_CALL,
  NO_USES,
  type ToolUses,
} from '../core/cost.ts'
import { isCount } from '../core/usage.ts'
import { isRecord } from './read-json.ts'

const KINDS_BY_NAME: Readonly<Record<string, CountedTool>> = {
  web_search: 'webSearch',
  file_search: 'fileSearch',
  code_interpreter: 'codeInterpreter',
  image_generation: 'imageGeneration',
}

/** A date. A tool with any other suffix may cost more, so it is another tool. */
const VERSION = /^\d[\d_]*$/

/** @param type a request's tool type: `web_search`, `web_search_20250305` */
export function kindOfTool(type: string): CountedTool | undefined {
  for (const [name, kind] of Object.entries(KINDS_BY_NAME)) {
    if (!type.startsWith(name)) continue
    const rest = type.slice(name.length)
    if (rest === '' || (rest[0] === '_' && VERSION.test(rest.slice(1)))) return kind
  }
  return undefined
}

function ofName(name: string): CountedTool | undefined {
  return Object.hasOwn(KINDS_BY_NAME, name) ? KINDS_BY_NAME[name] : undefined
}

// OpenAI Responses: each use is an item of the output.

const CALL = '_call'

/**
 * The greater of a response's items and its provider's report: several searches may be in one item,
 * and a report omits discounted uses (https://github.com/openai/openai-node,
 * `Response.tool_usage`).
 * @param seen used when the response repeats no items
 * @returns undefined when neither is present
 */
export function readResponseUses(
  { output, tool_usage }: Readonly<Record<string, unknown>>,
  seen?: ToolUses,
): ToolUses | undefined {
  const shown = Array.isArray(output) && (output.length > 0 || seen === undefined)
  const uses = shown ? countItems(output) : seen
  const reported = readSearches(
    isRecord(tool_usage) ? tool_usage.web_search : undefined,
    'num_requests',
  )
  if (reported === undefined) return uses
  const webSearch = Math.max(reported, uses?.webSearch ?? 0)
  return webSearch === 0 ? (uses ?? NO_USES) : { ...uses, webSearch }
}

export function countItems(output: unknown): ToolUses {
  if (!Array.isArray(output)) return NO_USES
  const counter = new ItemCounter()
  for (const item of output) counter.note(item)
  return counter.uses
}

/** Counts each item of a stream once. A started search is charged, so announced items count too. */
export class ItemCounter {
  readonly #announced = new Map<CountedTool, number>()
  readonly #done = new Map<CountedTool, number>()
  /** Number of announced searches that only opened or searched a page. */
  #pagesOpened = 0

  announce(item: unknown): void {
    const kind = kindOfItem(item)
    if (kind !== undefined) addOne(this.#announced, kind)
  }

  /** The only source for complete answers, and for streams of servers that announce nothing. */
  note(item: unknown): void {
    const kind = kindOfItem(item)
    if (kind === undefined) return
    if (isOpenedPage(item)) this.#pagesOpened += 1
    else addOne(this.#done, kind)
  }

  get uses(): ToolUses {
    if (this.#announced.size + this.#done.size === 0) return NO_USES
    const uses: { [Kind in CountedTool]?: number } = {}
    for (const kind of COUNTED_TOOLS) {
      const pages = kind === 'webSearch' ? this.#pagesOpened : 0
      const announced = (this.#announced.get(kind) ?? 0) - pages
      const count = Math.max(announced, this.#done.get(kind) ?? 0)
      if (count > 0) uses[kind] = Math.min(count, MAX_USES_OF_CALL)
    }
    return uses
  }
}

function addOne(counts: Map<CountedTool, number>, kind: CountedTool): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
}

function kindOfItem(item: unknown): CountedTool | undefined {
  if (!isRecord(item)) return undefined
  const { type } = item
  return typeof type === 'string' && type.endsWith(CALL)
    ? ofName(type.slice(0, -CALL.length))
    : undefined
}

/**
 * Opening or searching a page is free
 * (https://developers.openai.com/api/docs/guides/tools-web-search).
 */
function isOpenedPage(item: unknown): boolean {
  const action = isRecord(item) && isRecord(item.action) ? item.action.type : undefined
  return action === 'open_page' || action === 'find_in_page'
}

// Anthropic Messages: usage reports the charged searches; until then blocks show them.

export function readServerToolUse(usage: unknown): ToolUses | undefined {
  const reported = isRecord(usage) ? usage.server_tool_use : undefined
  const searches = readSearches(reported, 'web_search_requests')
  return searches === undefined ? undefined : searchesOf(searches)
}

function readSearches(report: unknown, name: string): number | undefined {
  const searches = isRecord(report) ? report[name] : undefined
  return isCount(searches) && searches <= MAX_USES_OF_CALL ? searches : undefined
}

export function searchesOf(count: number): ToolUses {
  return count === 0 ? NO_USES : { webSearch: Math.min(count, MAX_USES_OF_CALL) }
}

export function countBlocks(content: unknown): ToolUses {
  return Array.isArray(content) ? searchesOf(content.filter(isSearchBlock).length) : NO_USES
}

export function isSearchBlock(block: unknown): boolean {
  return isRecord(block) && block.type === 'server_tool_use' && block.name === 'web_search'
}
