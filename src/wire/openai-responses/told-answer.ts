/**
 * Keeps the parts of a streamed answer that were told, to be compared with the answer that its last
 * event repeats. Knows no upstream.
 */
import type { AnswerPart, ChatEvent } from '../chat-answer.ts'
import { parseJson } from '../json-scan.ts'

export class ToldAnswer {
  isEmpty = true
  #text = ''
  #refusal = ''
  /** By the call's number. */
  readonly #arguments = new Map<number, string>()

  note(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type !== 'start' && event.type !== 'unread') this.isEmpty = false
      if (event.type === 'text-delta') this.#text += event.text
      else if (event.type === 'refusal-delta') this.#refusal += event.text
      else if (event.type === 'tool-call-start') this.#arguments.set(event.index, '')
      else if (event.type === 'tool-call-delta')
        this.#arguments.set(event.index, (this.#arguments.get(event.index) ?? '') + event.arguments)
    }
  }

  /**
   * True where nothing is missing. Some servers repeat nothing, some trim what they repeat, some
   * spell its JSON otherwise.
   */
  matches(repeated: readonly AnswerPart[]): boolean {
    const text = repeated.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    const refusal = repeated
      .flatMap((part) => (part.type === 'refusal' ? [part.text] : []))
      .join('')
    const calls = repeated.flatMap((part) => (part.type === 'tool-call' ? [part.arguments] : []))
    return (
      isSame(this.#text, text) &&
      isSame(this.#refusal, refusal) &&
      (calls.length === 0 || spellingOf(calls) === spellingOf([...this.#arguments.values()]))
    )
  }
}

function isSame(told: string, repeated: string): boolean {
  return repeated.trim() === '' || repeated.trim() === told.trim()
}

function spellingOf(calls: readonly string[]): string {
  return calls.map(normalize).sort().join('\n')
}

function normalize(text: string): string {
  if (text.trim() === '') return '{}'
  try {
    return JSON.stringify(parseJson(text))
  } catch {
    return text.replaceAll(/\s/g, '') // Arguments that a limit has cut off.
  }
}
