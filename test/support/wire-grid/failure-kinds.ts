/** Kinds that are about refusals of an upstream, and about answers in an unusual frame. */
import { expect } from 'bun:test'
import { head, json, piece, type Script, stream } from '../scripted-upstream.ts'
import { type Kind, NO_STREAM } from './kind.ts'
import {
  ask,
  type Cell,
  expectRelayed,
  isRelayed,
  readAnswer,
  toScript,
  upstreamOf,
} from './pairs.ts'
import { sampleOf, TEXT } from './samples.ts'

const NOT_EVENTS = 'its streams are frames'
const isFramed = ({ upstream }: Cell) => upstream.dialect === 'bedrock-converse'

const otherContentType: Kind = {
  item: 8,
  name: 'events under another content type are read',
  absent: (cell) => (!cell.isStream ? NO_STREAM : isFramed(cell) ? NOT_EVENTS : undefined),
  async check(cell) {
    const sample = sampleOf(cell.upstream, TEXT)
    const script = [head(200, { 'content-type': 'text/plain' }), ...sample.stream.map(piece)]
    const asked = await ask(cell, { answers: [script] })
    if (isRelayed(cell)) expectRelayed(cell, asked, sample)
    else expect((await readAnswer(cell, asked)).read.text).toBe(TEXT.text ?? '')
  },
}

const errorWith200: Kind = {
  item: 8,
  name: 'an error object with status 200 is shown as that error',
  absent: (cell) => (cell.isStream ? undefined : NO_STREAM),
  async check(cell) {
    const error = { message: 'It is said.', code: 'rate_limit_exceeded', type: 'requests' }
    const { seen } = await ask(cell, { answers: [json(200, { error })] })
    expect({ status: seen.status, text: seen.text }).toEqual({ status: 429, text: seen.text })
    expect(seen.text).toContain('It is said.')
  },
}

const firstEventFails: Kind = {
  item: 8,
  name: 'a failure as the first event has a status',
  absent: (cell) => (cell.isStream ? undefined : NO_STREAM),
  async check(cell) {
    const { failure } = cell.upstream.kit
    const { seen } = await ask(cell, {
      answers: [toScript(cell, { whole: {}, stream: [failure] })],
    })
    expect([502, 503, seen.text]).toContain(seen.status)
    expect(seen.text).toContain('probe-failure')
  },
}

interface Refusal {
  readonly status: number
  readonly said: string
  readonly body: object
  /** What a caller of Messages reads who asked for 32,000 tokens. */
  readonly told: string
}

const refusal = (message: string, told: string, body: object, status = 400): Refusal => ({
  ...{ status, told, said: message },
  body: JSON.parse(JSON.stringify(body).replace('"MESSAGE"', JSON.stringify(message))),
})
const openaiError = { error: { message: 'MESSAGE', type: 'invalid_request_error', code: null } }
const both = 'input length and `max_tokens` exceed context limit: '

/** Each vendor's words for a request that is longer than its model takes. */
const TOO_LONG: Readonly<Record<string, Refusal>> = {
  'openai-chat': refusal(
    "This model's maximum context length is 40960 tokens. However, you requested 32000 output tokens and your prompt contains at least 12115 input tokens, for a total of at least 44115 tokens.",
    `${both}12115 + 32000 > 40960`,
    openaiError,
  ),
  'openai-responses': refusal(
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'prompt is too long',
    { error: { message: 'MESSAGE', code: 'context_length_exceeded' } },
  ),
  'anthropic-messages': refusal(
    'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000',
    `${both}199000 + 8192 > 200000`,
    { type: 'error', error: { type: 'invalid_request_error', message: 'MESSAGE' } },
  ),
  'gemini-generate-content': refusal(
    'The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).',
    'prompt is too long: 2845475 tokens > 1048576 maximum',
    { error: { code: 400, message: 'MESSAGE', status: 'INVALID_ARGUMENT' } },
  ),
  'cohere-chat': refusal(
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292',
    'prompt is too long',
    { message: 'MESSAGE' },
  ),
  'mistral-chat': refusal(
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    'prompt is too long: 140000 tokens > 131072 maximum',
    { object: 'error', message: 'MESSAGE', type: 'invalid_request_error' },
  ),
  'bedrock-converse': refusal('Input is too long for requested model.', 'prompt is too long', {
    message: 'MESSAGE',
  }),
}

const overflow: Kind = {
  item: 10,
  name: 'a request that is too long is refused in the words that agents act on',
  async check(cell) {
    const refused = TOO_LONG[cell.upstream.dialect]
    if (refused === undefined) throw new Error('There are no words of this vendor.')
    const isMessages = cell.caller.dialect === 'anthropic-messages'
    const { seen } = await ask(cell, {
      ...(isMessages && { members: { max_tokens: 32_000 } }),
      answers: [json(refused.status, refused.body)],
    })
    expect(seen.status).toBe(400)
    if (isRelayed(cell)) expect(seen.text).toContain(isMessages ? refused.told : refused.said)
    else if (isMessages) expect(seen.text).toContain(refused.told)
    else if (cell.caller.dialect === 'openai-chat')
      expect(JSON.parse(seen.text)).toMatchObject({ error: { code: 'context_length_exceeded' } })
    else expect(JSON.parse(seen.text)).toMatchObject({ message: refused.said })
  },
}

/** Each vendor's refusal of a model that it does not have any more. */
const NO_MODEL: Readonly<Record<string, readonly [status: number, body: object]>> = {
  'openai-chat': [
    404,
    {
      error: {
        message: 'The model `qwen3` does not exist.',
        type: 'NotFoundError',
        code: 'model_not_found',
      },
    },
  ],
  'openai-responses': [
    404,
    { error: { message: 'The model `gpt-5` does not exist.', code: 'model_not_found' } },
  ],
  'anthropic-messages': [
    404,
    { type: 'error', error: { type: 'not_found_error', message: 'model: claude-opus-4-8' } },
  ],
  'gemini-generate-content': [
    404,
    {
      error: {
        code: 404,
        message:
          'models/gemini-3-pro-preview is not found for API version v1beta, or is not supported for generateContent.',
        status: 'NOT_FOUND',
      },
    },
  ],
  'cohere-chat': [
    404,
    {
      message:
        "model 'command-a-reasoning-08-2025' not found, make sure the correct model ID was used",
    },
  ],
  'mistral-chat': [
    400,
    {
      object: 'error',
      message: 'Invalid model: mistral-medium-latest',
      type: 'invalid_model',
      code: '1500',
    },
  ],
  'bedrock-converse': [
    404,
    {
      message:
        'This model version has reached the end of its life. Please refer to the AWS documentation for more details.',
    },
  ],
}

const SECOND = 'groq/second'
const CHAT = upstreamOf('openai-chat')

const nextTarget: Kind = {
  item: 11,
  name: 'a retired model moves the call to the next target',
  async check(cell) {
    const [status, body] = NO_MODEL[cell.upstream.dialect] ?? [0, {}]
    const sample = sampleOf(CHAT, TEXT)
    const next: Script = cell.isStream ? stream(sample.stream) : json(200, sample.whole)
    const { seen, sent } = await ask(cell, {
      answers: [json(status, body), next],
      targets: [cell.upstream.target, SECOND],
    })
    expect([seen.status, seen.headers['x-gatehouse-target'], sent.length]).toEqual([200, SECOND, 2])
    expect(sent[1]?.headers.authorization).toContain('planted-groq')
  },
}

const refusedOptions: Kind = {
  item: 15,
  name: 'a server that refuses `stream_options` is asked once more without it',
  absent({ upstream, isStream }) {
    if (!isStream) return NO_STREAM
    return upstream.dialect === 'openai-chat' ? undefined : 'its dialect has no such member'
  },
  async check(cell) {
    const sample = sampleOf(cell.upstream, TEXT)
    const refused = json(400, {
      error: {
        message: 'Extra inputs are not permitted: stream_options',
        type: 'invalid_request_error',
      },
    })
    const { seen, sent } = await ask(cell, {
      answers: [refused, toScript(cell, sample)],
      asksNoUsage: true,
    })
    expect([seen.status, sent.length]).toEqual([200, 2])
    expect(JSON.parse(sent[0]?.body ?? '')).toHaveProperty('stream_options')
    expect(JSON.parse(sent[1]?.body ?? '')).not.toHaveProperty('stream_options')
  },
}

export const FAILURE_KINDS: readonly Kind[] = [
  otherContentType,
  errorWith200,
  firstEventFails,
  overflow,
  nextTarget,
  refusedOptions,
]
