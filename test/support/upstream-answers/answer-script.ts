/**
 * What an upstream is made to answer, in no dialect; each dialect's sample says it as well as the
 * dialect can.
 */
import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'

export interface AnswerScript {
  readonly text?: string
  /** The text comes in one piece; absent: in two, so that there is something to join. */
  readonly isTextWhole?: true
  readonly reasoning?: string
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: string
  }[]
  readonly finish: FinishReason
  /** Tokens; absent: those of `USAGE`. */
  readonly usage?: ScriptedUsage
}

export interface ScriptedUsage {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export const USAGE: ScriptedUsage = { input: 11, cached: 3, output: 7, reasoning: 2 }

/** Stands for what a provider signs or encrypts. */
export const SEAL = 'cHJvYmUtc2VhbC1vZi1yZWFzb25pbmc='
export const THOUGHT = 'probe-thought'

export interface UpstreamKit {
  /** The dialect's, for readers. */
  readonly name: string
  /** Undefined where the dialect has no such end. */
  readonly whole: (script: AnswerScript) => JsonRecord | undefined
  /** One piece for each event. */
  readonly stream: (script: AnswerScript) => readonly Uint8Array[]
  /** An event that says that the upstream failed. */
  readonly failure: Uint8Array
  /**
   * What has to come back in the next request of a tool loop; undefined: its models want nothing
   * back.
   */
  readonly kept: string | undefined
}

export function sse(type: string | undefined, data: object): Uint8Array {
  return Buffer.from(
    `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`,
  )
}

/** The pieces of its text; none where it has none. */
export function textPieces({ text = '', isTextWhole }: AnswerScript): readonly string[] {
  return (isTextWhole === true ? [text] : halves(text)).filter((piece) => piece !== '')
}

export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
