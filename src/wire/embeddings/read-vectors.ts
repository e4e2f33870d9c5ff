/** Vectors and counts of an upstream's answer. Knows no dialect. */
import type { JsonValue } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'

/** @throws UnreadableAnswerError when it is no list of numbers */
export function readVector(value: JsonValue | undefined): readonly number[] {
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    !value.every((entry) => typeof entry === 'number')
  )
    throw new UnreadableAnswerError('sent an embedding that is not a list of numbers')
  return value
}

/** @throws UnreadableAnswerError when there is no list of entries */
export function readList(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new UnreadableAnswerError('sent an answer without embeddings')
  return value
}

export function readCount(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
