/**
 * Tells whether a second answer begins in a stream of chat completion chunks. Roles and ids say
 * nothing by themselves, since some servers send them anew with each chunk.
 */
import { isRecord } from '../read-json.ts'

export class ChatEnd {
  /** The id of the chunk that ended each choice. */
  readonly #ids = new Map<unknown, unknown>()

  /** True once any choice has ended. */
  get hasEnded(): boolean {
    return this.#ids.size > 0
  }

  /** Notes the ends in a chunk; true for one that writes on where its choice ended under another id. */
  isPassedBy({ id, choices }: Readonly<Record<string, unknown>>): boolean {
    if (!Array.isArray(choices)) return false
    for (const choice of choices) {
      if (!isRecord(choice)) continue
      const { index = 0, delta, finish_reason } = choice
      if (this.#ids.has(index) && this.#ids.get(index) !== id && hasContent(delta)) return true
      if (typeof finish_reason === 'string' && !this.#ids.has(index)) this.#ids.set(index, id)
    }
    return false
  }
}

function hasContent(delta: unknown): boolean {
  if (!isRecord(delta)) return false
  const { content, tool_calls } = delta
  return (content !== undefined && content !== null && content !== '') || Array.isArray(tool_calls)
}
