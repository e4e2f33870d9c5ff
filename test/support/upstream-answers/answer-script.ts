/** What an upstream answers, independent of a dialect. */
import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'

export interface AnswerScript {
  readonly text?: string
  readonly isTextWhole?: true
  readonly reasoning?: string
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: string
  }[]
  readonly finish: FinishReason
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
  readonly name: string
  readonly whole: (script: AnswerScript) => JsonRecord | undefined
  readonly stream: (script: AnswerScript) => readonly Uint8Array[]
  readonly failure: Uint8Array
  readonly kept: string | undefined
}

export function sse(type: string | undefined, data: object): Uint8Array {
  return Buffer.from(
    `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`,
  )
}

export function textPieces({ text = '', isTextWhole }: AnswerScript): readonly string[] {
  return (isTextWhole === true ? [text] : halves(text)).filter((piece) => piece !== '')
}

export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
