/** Whether a request continues a turn: its last message is the result of a tool. */
import { arrayElements, type JsonObject } from './json-splice.ts'
import { isRecord } from './read-json.ts'

const decoder = new TextDecoder()

/** Reads only the last message. `messages` is the member of every dialect but Responses. */
export function endsWithToolResult(body: JsonObject): boolean {
  const member = body.get('messages') ?? body.get('input')
  if (member === undefined || body.type(member) !== 'array') return false
  const last = arrayElements(body, member).at(-1)
  if (last === undefined) return false
  const message: unknown = JSON.parse(decoder.decode(body.bytes.subarray(last.start, last.end)))
  return isRecord(message) && isToolResult(message)
}

const TOOL_ROLES: ReadonlySet<unknown> = new Set(['tool', 'function'])

/** Clients add text after the results of the same message. */
function isToolResult({ role, type, content }: Readonly<Record<string, unknown>>): boolean {
  if (TOOL_ROLES.has(role)) return true
  if (typeof type === 'string' && type.endsWith('_call_output')) return true
  return (
    Array.isArray(content) && content.some((part) => isRecord(part) && part.type === 'tool_result')
  )
}
