/** Reads answers with the published SDKs. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { parseEvents } from '../server-sent-events.ts'

function answering(body: string, step = Number.POSITIVE_INFINITY, type = EVENTS) {
  const bytes = Buffer.from(body)
  const length = Math.min(step, Math.max(1, bytes.length))
  return async (): Promise<Response> =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += length)
            controller.enqueue(new Uint8Array(bytes.subarray(at, at + length)))
          controller.close()
        },
      }),
      { headers: { 'content-type': type } },
    )
}

const EVENTS = 'text/event-stream'
const MESSAGES = [{ role: 'user' as const, content: 'Hi' }]

/** A stream in the form of a whole answer, made by the SDK of the caller's dialect. */
export async function accumulate(
  dialect: string,
  text: string,
  step?: number,
): Promise<JsonRecord> {
  const fetch = answering(text, step)
  // The SDKs keep parsers of partial JSON beside the answer, so only serialisable members are
  // compared.
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as JsonRecord
  switch (dialect) {
    case 'openai-chat': {
      const client = new OpenAI({ apiKey: 'any', fetch, maxRetries: 0 })
      const asked = { model: 'g', messages: MESSAGES, stream_options: { include_usage: true } }
      return plain(await client.chat.completions.stream(asked).finalChatCompletion())
    }
    case 'anthropic-messages': {
      const client = new Anthropic({ apiKey: 'any', fetch, maxRetries: 0 })
      const asked = { model: 'g', max_tokens: 9, messages: MESSAGES }
      return plain(await client.messages.stream(asked).finalMessage())
    }
    case 'openai-responses': {
      const client = new OpenAI({ apiKey: 'any', fetch, maxRetries: 0 })
      return plain(await client.responses.stream({ model: 'g', input: 'Hi' }).finalResponse())
    }
    default:
      // The gateway's own format has no SDK; its last event is the whole answer.
      return JSON.parse(parseEvents(text).at(-1)?.data ?? '{}')
  }
}

export interface AiSdkAnswer {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly finish: unknown
  readonly usage: unknown
}

const MODELS = {
  'openai-chat': (fetch: Fetch) => ({
    openai: createOpenAI({ ...SERVER, fetch }).chat('g'),
    'openai-compatible': createOpenAICompatible({ ...SERVER, name: 'any', fetch })('g'),
  }),
  'anthropic-messages': (fetch: Fetch) => ({
    anthropic: createAnthropic({ ...SERVER, fetch })('g'),
  }),
} as const

type Fetch = typeof globalThis.fetch
const SERVER = { apiKey: 'any', baseURL: 'http://gateway.test/v1' }
const PROMPT = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }]

export async function readByAiSdk(
  dialect: string,
  body: string,
  isStream: boolean,
  step?: number,
): Promise<Readonly<Record<string, AiSdkAnswer>>> {
  if (!(dialect in MODELS)) return {}
  const type = isStream ? EVENTS : 'application/json'
  const fetch = answering(body, step, type) as unknown as Fetch
  const answers: Record<string, AiSdkAnswer> = {}
  for (const [name, model] of Object.entries(MODELS[dialect as keyof typeof MODELS](fetch))) {
    const [parts, end] = isStream
      ? await readParts((await model.doStream({ prompt: PROMPT })).stream)
      : await model.doGenerate({ prompt: PROMPT }).then((whole) => [whole.content, whole] as const)
    answers[name] = toAnswer(parts, end)
  }
  return answers
}

interface Part {
  readonly type: string
  readonly text?: unknown
  readonly delta?: unknown
  readonly toolName?: unknown
  readonly input?: unknown
  readonly finishReason?: unknown
  readonly usage?: unknown
}

interface End {
  readonly finishReason?: unknown
  readonly usage?: unknown
}

async function readParts(stream: ReadableStream<Part>): Promise<readonly [Part[], End]> {
  const parts: Part[] = []
  for await (const part of stream) parts.push(part)
  const failed = parts.find(({ type }) => type === 'error')
  if (failed !== undefined) throw new Error(`The AI SDK reports an error: ${Bun.inspect(failed)}`)
  const end: End | undefined = parts.find(({ type }) => type === 'finish')
  return [parts, end ?? {}]
}

function toAnswer(parts: readonly Part[], { finishReason, usage }: End): AiSdkAnswer {
  const join = (...types: string[]) =>
    parts
      .filter(({ type }) => types.includes(type))
      .map(({ text, delta }) => String(text ?? delta ?? ''))
      .join('')
  const { raw: _, ...counted } = (usage ?? {}) as { raw?: unknown }
  return {
    text: join('text', 'text-delta'),
    reasoning: join('reasoning', 'reasoning-delta'),
    calls: parts
      .filter(({ type }) => type === 'tool-call')
      .map(({ toolName, input }) => ({ name: String(toolName), input: JSON.parse(String(input)) })),
    finish: finishReason,
    usage: counted,
  }
}
