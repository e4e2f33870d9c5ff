/** How a request that is too long for its model is recognised, and told in each dialect's words. */
import { describe, expect, test } from 'bun:test'
import { isContextFull, toContextBody, toContextMessage } from './context-full.ts'
import type { UpstreamErrorAnswer } from './upstream-error.ts'

/** Each vendor's own error; the figures are examples. */
const SAID = [
  'prompt is too long: 209120 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000',
  'Input is too long for requested model.',
  'too many tokens: total number of tokens in the prompt cannot exceed 4081',
  "This model's maximum context length is 128000 tokens.",
  'Your input exceeds the context window of this model.',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'Please reduce the length of the messages or completion.',
  "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
  'the request exceeds the available context size',
  'context length exceeded',
]
/** The part of an answer that says why. */
const saying = (message: string) => ({ message })

describe('a full context', () => {
  test.each(SAID)('is recognised by its words: %s', (message) => {
    expect(isContextFull(400, saying(message))).toBe(true)
    expect(isContextFull(400, saying(message.toUpperCase()))).toBe(true)
  })

  test.each(['context_length_exceeded', 'exceed_context_size_error'])(
    'is recognised by %s, as a code or as a type, whatever the text says',
    (word) => {
      expect(isContextFull(400, { code: word, message: 'no' })).toBe(true)
      expect(isContextFull(400, { type: word, message: 'no' })).toBe(true)
    },
  )

  test.each([
    [399, false],
    [400, true],
    [413, true],
    [429, false],
    [499, true],
    [500, false],
  ])('at status %i: %p, since a limit of rates or a fault is another thing', (status, isFull) => {
    expect(isContextFull(status, saying('prompt is too long'))).toBe(isFull)
    expect(isContextFull(status, { code: 'context_length_exceeded', message: '' })).toBe(isFull)
  })

  test.each([
    [{}],
    [{ code: '', type: '', message: '' }],
    [{ code: null, message: 'max_tokens must be at least 1' }],
    [{ code: 'invalid_request_error', message: 'the prompt is empty' }],
  ])('is not %j', (answer) => {
    expect(isContextFull(400, answer as Parameters<typeof isContextFull>[1])).toBe(false)
  })

  test('is not looked for behind 2,000 characters, where an error may repeat the request', () => {
    const words = 'prompt is too long'
    const room = 2_000 - words.length
    expect(isContextFull(400, saying(' '.repeat(room) + words))).toBe(true)
    expect(isContextFull(400, saying(` ${' '.repeat(room)}${words}`))).toBe(false)
  })
})

describe('its text', () => {
  test('begins, for clients of Messages, with the words that they look for', () => {
    expect(toContextMessage('context length exceeded', 'messages')).toBe(
      'prompt is too long: context length exceeded',
    )
  })

  test.each(['prompt is too long: 3 > 2', 'input and max_tokens exceed context limit: 2 + 2 > 3'])(
    'stays where those clients recognise it: %s',
    (message) => expect(toContextMessage(message, 'messages')).toBe(message),
  )

  test('stays in every other dialect', () => {
    expect(toContextMessage('context length exceeded', 'nested')).toBe('context length exceeded')
  })
})

describe('its body', () => {
  const answerOf = (json: { readonly error: Readonly<Record<string, unknown>> }) => {
    const answer = { json, message: json.error.message } as UpstreamErrorAnswer
    return { bytes: Buffer.from(JSON.stringify(json, null, 1)), answer }
  }
  const bodyOf = (
    envelope: 'messages' | 'nested',
    { bytes, answer }: ReturnType<typeof answerOf>,
  ) => toContextBody(bytes, answer, envelope)
  const parsed = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString('utf8')) as unknown

  test('gets the code that clients of OpenAI look for, and keeps everything else', () => {
    const error = { message: 'maximum context length', type: 'too_long', param: 'messages' }
    const told = bodyOf('nested', answerOf({ error: { ...error, code: null } }))
    expect(parsed(told)).toEqual({ error: { ...error, code: 'context_length_exceeded' } })
  })

  test('is the upstream’s own bytes where the code is there', () => {
    const answer = answerOf({ error: { message: 'full', code: 'context_length_exceeded' } })
    expect(bodyOf('nested', answer)).toBe(answer.bytes)
  })

  test('gets the text that clients of Messages look for, and keeps everything else', () => {
    const json = { type: 'error', request_id: 'req_1', error: { type: 'x', message: 'full' } }
    expect(parsed(bodyOf('messages', answerOf(json)))).toEqual({
      ...json,
      error: { type: 'x', message: 'prompt is too long: full' },
    })
  })

  test('is the upstream’s own bytes where the text is there', () => {
    const answer = answerOf({ error: { type: 'x', message: 'prompt is too long: 3 > 2' } })
    expect(bodyOf('messages', answer)).toBe(answer.bytes)
  })

  test('without a message gets a standard one', () => {
    const answer = { json: { error: { type: 'x' } } } as UpstreamErrorAnswer
    expect(parsed(toContextBody(Buffer.from('{}'), answer, 'messages'))).toEqual({
      error: { type: 'x', message: 'prompt is too long: no message' },
    })
  })
})
