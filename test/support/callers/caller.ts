/** What a caller's dialect must offer to be probed: its requests, and how to read its answers. */

import type { FeatureId } from '../../../src/contract/conformance-features.ts'
import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'

export interface Probe {
  readonly ask: JsonRecord
  /**
   * The request without the feature. A target that receives the same bytes for both requests has
   * lost the feature. Default: the simplest request.
   */
  readonly without?: JsonRecord
  readonly carries?: readonly string[]
  readonly isDefault?: boolean
  /**
   * The same request with another value. A target that receives the same bytes for both values has
   * changed one of them.
   */
  readonly other?: JsonRecord
}

export interface SeenAnswer {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly finish: FinishReason | undefined
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoningTokens: number
}

export type SeenField = keyof SeenAnswer

export interface CallerKit {
  readonly plain: JsonRecord
  readonly stream: JsonRecord
  /** Features without a place in the format are missing. */
  readonly probes: Partial<Record<FeatureId, Probe>>
  /** Answers a tool call as unmodified clients do. */
  readonly loop: { readonly ask: JsonRecord; readonly next: (answer: JsonRecord) => JsonRecord }
  readonly readAnswer: (answer: JsonRecord) => SeenAnswer
  readonly readStream: (text: string) => SeenAnswer
  readonly readEnd: (text: string) => { readonly isWhole: boolean; readonly isFailed: boolean }
  /** The dialect's own names. */
  readonly names: Readonly<Record<SeenField, string>>
}

export function readEvents(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
}
