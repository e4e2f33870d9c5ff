/**
 * How `gatehouse call` asks each endpoint, and where the text is in its answers. Knows no command
 * line.
 */

import type { Client } from './client.ts'

export interface CallQuestion {
  readonly gate: string
  readonly prompt: string
  readonly system: string | undefined
  readonly suffix: string | undefined
  readonly maxTokens: number | undefined
  readonly stream: boolean
}

export interface CallUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface CallEndpoint {
  readonly path: string
  /** @throws CliError for anything but a 2xx */
  ask(client: Client, signal: AbortSignal, question: CallQuestion): Promise<Response>
  /** The text in a whole answer. */
  readText(answer: Json): string
  /** The text in one event of a stream. */
  readDelta(event: Json): string
  /** Why an event says that the stream failed; undefined when it does not. */
  readFailure(event: Json): string | undefined
  /**
   * True for an event that says that nothing is missing: a stream can end early without any sign of
   * it.
   */
  isEnd(event: Json): boolean
  readUsage(answerOrEvent: Json): CallUsage | undefined
}

type Json = Readonly<Record<string, unknown>>

const chatShaped = {
  readText: (answer: Json) => text(at(answer, 'choices', 0, 'message', 'content')),
  readDelta: (event: Json) => text(at(event, 'choices', 0, 'delta', 'content')),
  readFailure: (event: Json) => (event.error === undefined ? undefined : errorMessage(event.error)),
  isEnd: (event: Json) => typeof at(event, 'choices', 0, 'finish_reason') === 'string',
  readUsage: (answer: Json) => usage(answer.usage, 'prompt_tokens', 'completion_tokens'),
}

/** In the order in which they are tried when the user names none. */
export const CALL_ENDPOINTS: Readonly<Record<string, CallEndpoint>> = {
  responses: {
    path: '/v1/responses',
    ask: (client, signal, { gate, prompt, system, maxTokens, stream }) =>
      client.open('POST /v1/responses', signal, {
        body: {
          model: gate,
          input: prompt,
          instructions: system,
          max_output_tokens: maxTokens,
          stream,
        },
      }),
    readText: (answer) =>
      list(answer.output)
        .flatMap((item) => list(at(item, 'content')))
        .map((part) => text(at(part, 'text')))
        .join(''),
    readDelta: (event) => (event.type === 'response.output_text.delta' ? text(event.delta) : ''),
    readFailure: (event) => {
      if (event.type === 'error') return errorMessage(event.error ?? event)
      return event.type === 'response.failed'
        ? errorMessage(at(event, 'response', 'error'))
        : undefined
    },
    isEnd: (event) => event.type === 'response.completed' || event.type === 'response.incomplete',
    readUsage: (answer) =>
      usage(at(answer, 'response', 'usage') ?? answer.usage, 'input_tokens', 'output_tokens'),
  },
  chat: {
    path: '/v1/chat/completions',
    ask: (client, signal, { maxTokens, stream, ...question }) =>
      client.open('POST /v1/chat/completions', signal, {
        body: {
          ...chatBody(question),
          max_completion_tokens: maxTokens,
          stream,
          stream_options: stream ? { include_usage: true } : undefined,
        },
      }),
    ...chatShaped,
  },
  'mistral-chat': {
    path: '/alt/v1/chat/completions',
    ask: (client, signal, { maxTokens, stream, ...question }) =>
      client.open('POST /alt/v1/chat/completions', signal, {
        body: { ...chatBody(question), max_tokens: maxTokens, stream },
      }),
    ...chatShaped,
  },
  fim: {
    path: '/alt/v1/fim/completions',
    ask: (client, signal, { gate, prompt, suffix, maxTokens, stream }) =>
      client.open('POST /alt/v1/fim/completions', signal, {
        body: { model: gate, prompt, suffix, max_tokens: maxTokens, stream },
      }),
    ...chatShaped,
  },
}

function chatBody({ gate, prompt, system }: Pick<CallQuestion, 'gate' | 'prompt' | 'system'>) {
  const user = { role: 'user', content: prompt }
  return {
    model: gate,
    messages: system === undefined ? [user] : [{ role: 'system', content: system }, user],
  }
}

function usage(reported: unknown, input: string, output: string): CallUsage | undefined {
  const inputTokens = at(reported, input)
  const outputTokens = at(reported, output)
  return typeof inputTokens === 'number' && typeof outputTokens === 'number'
    ? { inputTokens, outputTokens }
    : undefined
}

function errorMessage(error: unknown): string {
  return text(at(error, 'message')) || JSON.stringify(error)
}

/** A value deep inside JSON; undefined where the path ends early. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found: unknown = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string | number, unknown>)[key]
  }
  return found
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
