/**
 * The `input` of a Responses request: what OpenAI refuses in it, and what it says to the model.
 * It must not know settings outside `input`, nor anything stored: nothing ever is.
 */
import { isObject, type JsonObject, stringOf, textOfContent } from '../json.ts'
import { badField, missingField, Refusal } from '../refusal.ts'
import { openReasoning } from '../seal-reasoning.ts'

export interface ReadInput {
  readonly lastUserText: string
  /** Only the outputs that end the input. */
  readonly toolOutputs: readonly string[]
  /** The text of each item, in order, for counting. */
  readonly parts: readonly string[]
}

const ROLES = ['user', 'assistant', 'system', 'developer']
const OUTPUT_OF: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
}

/** @throws Refusal as OpenAI refuses items it cannot take; see each check. */
export function readInput(input: unknown, apiKey: string): ReadInput {
  if (typeof input === 'string') return { lastUserText: input, toolOutputs: [], parts: [input] }
  if (!Array.isArray(input)) {
    throw badField(
      `Invalid type for 'input': expected a string or an array of items.`,
      'input',
      'invalid_type',
    )
  }
  const items = input.map((item, index) => {
    if (isObject(item)) return item
    throw badField(
      `Invalid type for 'input[${index}]': expected an object.`,
      `input[${index}]`,
      'invalid_type',
    )
  })
  const sealedIds = new Set<string>()
  items.forEach((item, index) => {
    checkItem(item, index)
    if (item.type === 'reasoning') sealedIds.add(checkReasoning(item, items[index + 1], apiKey))
    else checkPairedReasoning(item, sealedIds)
  })
  checkToolPairs(items)
  return {
    lastUserText: textOfContent(items.findLast((item) => item.role === 'user')?.content),
    toolOutputs: trailingOutputs(items),
    parts: items.map(textOfItem),
  }
}

function checkItem(item: JsonObject, index: number): void {
  const at = `input[${index}]`
  const type = item.type ?? 'message'
  if (typeof type !== 'string')
    throw badField(
      `Invalid type for '${at}.type': expected a string.`,
      `${at}.type`,
      'invalid_type',
    )
  if (type === 'item_reference') throw notFound(stringOf(item.id))
  if (type === 'message') {
    if (!ROLES.includes(stringOf(item.role))) {
      throw badField(
        `Invalid value: '${String(item.role)}'. Supported values are: ${ROLES.join(', ')}.`,
        `${at}.role`,
        'invalid_value',
      )
    }
    if (typeof item.content !== 'string' && !Array.isArray(item.content))
      throw missingField(`${at}.content`)
  }
  const needed =
    {
      function_call: ['call_id', 'name', 'arguments'],
      function_call_output: ['call_id', 'output'],
    }[type] ?? []
  for (const name of needed) if (item[name] === undefined) throw missingField(`${at}.${name}`)
}

function notFound(id: string): Refusal {
  return new Refusal(
    404,
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
      `Try again with \`store\` set to true, or remove this item from your input.`,
    { param: 'input' },
  )
}

/** @returns the id that the ciphertext was made for. */
function checkReasoning(item: JsonObject, next: JsonObject | undefined, apiKey: string): string {
  const id = stringOf(item.id)
  if (typeof item.encrypted_content !== 'string') throw notFound(id)
  const opened = openReasoning(item.encrypted_content, apiKey)
  if (opened === null || opened.isPartial) {
    const shown = item.encrypted_content.slice(0, 8)
    throw new Refusal(400, `The encrypted content ${shown}... could not be verified.`, {
      code: 'invalid_encrypted_content',
    })
  }
  if (id !== '' && id !== opened.id) {
    throw new Refusal(400, 'Encrypted content item_id did not match the target item id.', {
      code: 'invalid_encrypted_content',
    })
  }
  const isFollowed =
    next !== undefined && next.role !== 'user' && next.type !== 'function_call_output'
  if (!isFollowed) {
    throw badField(
      `Item '${opened.id}' of type 'reasoning' was provided without its required following item.`,
      'input',
    )
  }
  return opened.id
}

/**
 * An item that a reasoning model made has an `r` before its number, and needs its reasoning before
 * it.
 */
const REASONED_ID = /^(?:fc|msg)_(?<seed>[0-9a-f]{46})r[0-9a-f]{2}$/

function checkPairedReasoning(item: JsonObject, sealedIds: ReadonlySet<string>): void {
  const seed = REASONED_ID.exec(stringOf(item.id))?.groups?.seed
  if (seed === undefined) return
  const needed = `rs_${seed}r00`
  if (sealedIds.has(needed)) return
  const type = stringOf(item.type) || 'message'
  throw badField(
    `Item '${stringOf(item.id)}' of type '${type}' was provided without its required ` +
      `'reasoning' item: '${needed}'.`,
    'input',
  )
}

function checkToolPairs(items: readonly JsonObject[]): void {
  const seen = new Set<string>()
  for (const item of items) {
    const type = stringOf(item.type)
    if (Object.values(OUTPUT_OF).includes(type)) seen.add(stringOf(item.call_id))
    if (!(type in OUTPUT_OF) || seen.has(stringOf(item.call_id))) continue
    throw badField(
      `No tool call found for function call output with call_id ${stringOf(item.call_id)}.`,
      'input',
    )
  }
  const answered = new Set(
    items.filter((item) => stringOf(item.type) in OUTPUT_OF).map((item) => item.call_id),
  )
  const open = items.find((item) => item.type === 'function_call' && !answered.has(item.call_id))
  if (open)
    throw badField(`No tool output found for function call ${stringOf(open.call_id)}.`, 'input')
}

function trailingOutputs(items: readonly JsonObject[]): string[] {
  const start = items.findLastIndex((item) => !(stringOf(item.type) in OUTPUT_OF)) + 1
  return items.slice(start).map((item) => textOfContent(item.output))
}

function textOfItem(item: JsonObject): string {
  switch (item.type ?? 'message') {
    case 'message':
      return textOfContent(item.content)
    case 'function_call':
      return `${stringOf(item.name)}${stringOf(item.arguments)}`
    case 'function_call_output':
      return textOfContent(item.output)
    case 'reasoning':
      return stringOf(item.encrypted_content).slice(0, 64)
    default:
      return JSON.stringify(item)
  }
}
