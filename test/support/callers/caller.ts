/**
 * What a caller's dialect must offer to be probed: what it asks in that dialect, and how it reads
 * what comes back.
 */

import type { FeatureId } from '../../../src/contract/conformance-features.ts'
import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'

/** One request that asks for a feature. */
export interface Probe {
  /** Members of the body that replace those of the caller's plainest request. */
  readonly ask: JsonRecord
  /**
   * The same without the feature: a target that is sent the same for both has lost it. Absent: the
   * plainest request.
   */
  readonly without?: JsonRecord
  /** Texts that must arrive. */
  readonly carries?: readonly string[]
  /** What every model does anyway, so that nothing need be sent. */
  readonly isDefault?: boolean
}

/** What a client of the dialect has understood of an answer. */
export interface SeenAnswer {
  readonly text: string
  readonly reasoning: string
  /** Arguments are compared as JSON, not by their spelling. */
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly finish: FinishReason | undefined
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoningTokens: number
}

export type SeenField = keyof SeenAnswer

export interface CallerKit {
  /** The least that a request must hold, without the gate. */
  readonly plain: JsonRecord
  /** What asks for a stream, with its usage. */
  readonly stream: JsonRecord
  /** Features that are not here have no place in the format. */
  readonly probes: Partial<Record<FeatureId, Probe>>
  /** Answers to a tool call as unmodified clients do; the request that follows an answer. */
  readonly loop: { readonly ask: JsonRecord; readonly next: (answer: JsonRecord) => JsonRecord }
  readonly readAnswer: (answer: JsonRecord) => SeenAnswer
  readonly readStream: (text: string) => SeenAnswer
  /**
   * Whether a client would take this stream for a whole answer, and whether it was told of a
   * failure.
   */
  readonly readEnd: (text: string) => { readonly isWhole: boolean; readonly isFailed: boolean }
  /** The dialect's own names. */
  readonly names: Readonly<Record<SeenField, string>>
}

/** The JSON of each event's data. */
export function readEvents(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
}
