import { describe, expect, test } from 'bun:test'
import { parseEvents } from '../../test/support/server-sent-events.ts'
import { GatewayError } from '../core/errors.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { RelayedDialect, StreamTap } from './dialect.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

const tapOf = (dialect: RelayedDialect, hidesUsage = false) => dialect.createTap({ hidesUsage })
const push = (tap: StreamTap, ...texts: string[]) => {
  const outputs = [...texts.map((text) => tap.push(Buffer.from(text))), tap.end()]
  return outputs.map(({ now, held }) =>
    [now, held].map((bytes) => Buffer.from(bytes, 'latin1').toString()),
  )
}
const data = (json: unknown) =>
  `data: ${typeof json === 'string' ? json : JSON.stringify(json)}\n\n`
const named = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const failure = new GatewayError('upstream_timeout', 'It fell silent.', { code: 'idle' })
const failureOf = (tap: StreamTap) =>
  parseEvents(Buffer.from(tap.encodeFailure(failure)).toString()).map(({ event, data: text }) => ({
    event,
    data: text === '[DONE]' ? text : JSON.parse(text),
  }))

describe('a chat stream', () => {
  const said = data({ choices: [{ delta: { content: 'a' } }] })
  const finished = data({ choices: [{ delta: {}, finish_reason: 'stop' }] })

  test.each([
    'data: [DONE]\n\n',
    'data:[DONE]\n\n',
    'data:  [DONE] \n\n',
    'event: x\ndata: [DONE]\n\n',
  ])('ends with %j, which is held', (done) => {
    const tap = tapOf(openaiChat)
    expect(push(tap, said, done, ': after\n\n')).toEqual([
      [said, ''],
      ['', done],
      ['', ': after\n\n'],
      ['', ''],
    ])
    expect([tap.verdict, tap.isWholeAtEnd()]).toEqual(['complete', false])
  })

  test.each([
    data({ choices: [{ delta: { content: '[DONE]' } }] }),
    data('[DONE] and what would follow it, which is no end of anything'),
    data('"[DONE]"'),
    ': [DONE]\n\n',
  ])('does not end with %j', (text) => {
    const tap = tapOf(openaiChat)
    expect(push(tap, text)[0]).toEqual([text, ''])
    expect(tap.verdict).toBe('open')
  })

  test.each<[string, boolean]>([
    [finished, true],
    [`${finished}\n`, true],
    [`${finished}\r\n\r`, true],
    [`${finished}data: {"cho`, false],
    [said, false],
    [data({ choices: [{ finish_reason: null }] }), false],
    [data({ choices: [null, { finish_reason: 'stop' }] }), true],
    [data({ finish_reason: 'stop' }), false],
    [data('{"finish_reason"'), false],
    [finished + data({ choices: [{ finish_reason: null }] }), false],
  ])('that closes after %j is whole: %p', (text, isWhole) => {
    const tap = tapOf(openaiChat)
    push(tap, text)
    expect(tap.isWholeAtEnd()).toBe(isWhole)
  })

  test('with a last event that only lacks its blank line holds it like any other end', () => {
    expect(push(tapOf(openaiChat), `${said}data: [DONE]`)).toEqual([
      [said, ''],
      ['', 'data: [DONE]\n\n'],
    ])
    expect(push(tapOf(openaiChat), 'data: [DON')).toEqual([
      ['', ''],
      ['', ''],
    ])
  })

  test.each<[unknown, string | null, string]>([
    [{ error: { message: 'no' } }, 'no', 'failed'],
    [{ error: { message: { detail: 1 } } }, '{"detail":1}', 'failed'],
    [{ error: { code: 7 } }, '{"code":7}', 'failed'],
    [{ error: null, choices: [] }, null, 'open'],
    [{ error: 'no' }, 'no', 'failed'],
    [{ error: '', choices: [] }, null, 'open'],
    ['{"error": ', null, 'open'],
  ])('that begins with %j reports %j and is %s', (first, reported, verdict) => {
    const tap = tapOf(openaiChat)
    push(tap, ': comment\n\n', data(first))
    expect<[string | null, string]>([tap.reportedError, tap.verdict]).toEqual([reported, verdict])
  })

  test('with a later failure passes it on once, does not report it, and does not end well', () => {
    const tap = tapOf(openaiChat)
    const failure = data({ error: { message: 'no' } })
    expect(push(tap, said, failure, finished, data('[DONE]'))).toEqual([
      [said, ''],
      [failure, ''],
      [finished, ''],
      ['', data('[DONE]')],
      ['', ''],
    ])
    expect([tap.reportedError, tap.verdict, tap.isWholeAtEnd()]).toEqual([null, 'failed', false])
    expect(failureOf(tap)).toEqual([])
  })

  test('that breaks ends with an error in its dialect’s format', () => {
    expect(failureOf(tapOf(openaiChat))).toEqual([
      {
        event: undefined,
        data: {
          error: { message: 'It fell silent.', type: 'upstream_error', param: null, code: 'idle' },
        },
      },
      { event: undefined, data: '[DONE]' },
    ])
    expect(failureOf(tapOf(mistralChat))).toEqual([
      {
        event: undefined,
        data: { error: { type: 'upstream_timeout', code: 'idle', message: 'It fell silent.' } },
      },
    ])
  })

  const usage = { prompt_tokens: 3, completion_tokens: 2 }
  const counted = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }
  test.each<[string, string, object | null]>([
    ['a chunk of usage alone', data({ choices: [], usage }), counted],
    ['a chunk with more', data({ choices: [{ delta: {} }], usage }), counted],
    ['a chunk without choices', data({ usage }), counted],
    [
      ...([
        'a chunk in another spelling',
        data('{ "usage" : {"prompt_tokens": 3, "completion_tokens": 2} }'),
      ] as const),
      counted,
    ],
    ['no usage after all', data({ choices: [], usage: 7 }), null],
    ['text that speaks of it', data({ choices: [{ delta: { content: '"usage":{' } }] }), null],
    ['no JSON', data('{"usage":{'), null],
  ])('with requested usage shows %s unchanged', (_, text, read) => {
    const tap = tapOf(openaiChat)
    expect(push(tap, text)[0]).toEqual([text, ''])
    expect<object | null>(tap.usage).toEqual(read)
  })

  test.each<[string, string, string]>([
    ['alone', data({ choices: [], usage }), ''],
    ['beside choices', data({ choices: [{}], usage, x: 1 }), data({ choices: [{}], x: 1 })],
    ['without choices', data({ usage, x: 1 }), data({ x: 1 })],
    ['of null without choices', data({ choices: [], usage: null }), data({ choices: [] })],
    ['in a named event', `event: x\n${data({ usage: null, a: 1 })}`, `event: x\n${data({ a: 1 })}`],
    ['over two lines', 'data: {"a":1,\ndata: "usage" : null}\n\n', data({ a: 1 })],
    ['in no JSON', data('{"usage":null'), data('{"usage":null')],
  ])('with unrequested usage hides it: %s', (_, text, shown) => {
    const tap = tapOf(openaiChat, true)
    expect(push(tap, text)[0]).toEqual([shown, ''])
  })

  test('keeps its last report of usage', () => {
    const tap = tapOf(openaiChat)
    push(tap, data({ usage: { prompt_tokens: 9 } }), data({ usage }), data({ usage: null }))
    expect<object | null>(tap.usage).toEqual(counted)
  })
})

describe('a Responses stream', () => {
  test.each(['response.completed', 'response.incomplete', 'response.failed'])(
    'ends with %s',
    (type) => {
      const tap = tapOf(openaiResponses)
      const end = named(type, { response: { usage: { input_tokens: 3, output_tokens: 2 } } })
      expect(push(tap, named('response.created'), end)).toEqual([
        [named('response.created'), ''],
        ['', end],
        ['', ''],
      ])
      expect(tap.verdict).toBe(type === 'response.failed' ? 'failed' : 'complete')
      expect(tap.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 })
      expect(tap.isWholeAtEnd()).toBe(false)
    },
  )

  test('with an error is not completed by an end that follows', () => {
    const tap = tapOf(openaiResponses)
    push(tap, named('error', { message: 'no' }), named('response.completed'))
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', 'no'])
  })

  test.each([
    ['error', { error: { message: 'a' }, message: 'b' }, 'a'],
    ['error', { message: 'b' }, 'b'],
    ['error', {}, 'no message'],
  ])('that begins with %s %j reports %s', (type, members, reported) => {
    const tap = tapOf(openaiResponses)
    push(tap, data({ type: 'unnamed' }), named(type, members))
    expect(tap.reportedError).toBe(reported)
  })

  test.each([
    ['response.completed', 'complete'],
    ['response.incomplete', 'complete'],
    ['response.failed', 'failed'],
  ])('without event lines ends with %s in the data, which is held', (type, verdict) => {
    const tap = tapOf(openaiResponses)
    const usage = { input_tokens: 3, output_tokens: 4 }
    const began = data({ type: 'response.created', response: { id: 'resp_1' } })
    const end = data({ type, response: { usage } })
    expect(push(tap, began, end)).toEqual([
      [began, ''],
      ['', end],
      ['', ''],
    ])
    expect(tap).toMatchObject({ verdict, usage: { inputTokens: 3, outputTokens: 4 } })
  })

  test('without event lines reports a failure at its beginning', () => {
    const tap = tapOf(openaiResponses)
    push(tap, data({ type: 'error', message: 'no' }))
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', 'no'])
  })

  test('with a later failure passes it on, and reports nothing', () => {
    const tap = tapOf(openaiResponses)
    push(tap, named('response.created'), named('error', { message: 'no' }))
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', null])
  })

  const wholeResponse = {
    ...{
      id: 'resp_unknown',
      object: 'response',
      created_at: 0,
      background: false,
      model: '',
      output: [],
    },
    ...{
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
    },
    ...{ parallel_tool_calls: true, previous_response_id: null, prompt_cache_key: null },
    ...{
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'auto',
    },
    ...{ store: false, temperature: null, text: { format: { type: 'text' } }, tool_choice: 'auto' },
    ...{ tools: [], top_logprobs: 0, top_p: null, truncation: 'disabled', presence_penalty: 0 },
    ...{ frequency_penalty: 0, usage: null, user: null, metadata: {}, status: 'failed' },
    error: { code: 'server_error', message: 'It fell silent.' },
  }
  const flat = { message: 'It fell silent.', param: null, code: 'idle' }
  const error = (sequence_number: number) => ({
    event: 'error',
    data: { type: 'error', sequence_number, ...flat, error: { type: 'upstream_error', ...flat } },
  })
  const failed = (sequence_number: number, response: object) => ({
    event: 'response.failed',
    data: { type: 'response.failed', sequence_number, response },
  })
  const DONE = { event: undefined, data: '[DONE]' }

  test('that breaks before its beginning ends with every member that a response has', () => {
    expect(failureOf(tapOf(openaiResponses))).toEqual([error(0), failed(1, wholeResponse), DONE])
  })

  test('that breaks later continues its numbers, and keeps its response’s own members', () => {
    const tap = tapOf(openaiResponses)
    push(
      tap,
      named('response.created', {
        sequence_number: 4,
        response: { id: 'r', status: 'in_progress' },
      }),
      named('response.output_text.delta', { sequence_number: 5, response: { id: 'other' } }),
    )
    expect(failureOf(tap)).toEqual([error(6), failed(7, { ...wholeResponse, id: 'r' }), DONE])
  })

  test.each(['not JSON', '7', 'null'])(
    'with events that are %s counts from the beginning',
    (text) => {
      const tap = tapOf(openaiResponses)
      push(tap, `event: response.created\n${data(text)}`)
      expect(failureOf(tap)).toEqual([error(0), failed(1, wholeResponse), DONE])
    },
  )
})

describe('a Messages stream', () => {
  const start = named('message_start', {
    message: { usage: { input_tokens: 3, output_tokens: 1 } },
  })
  const stop = named('message_stop')

  test('ends with message_stop, which is held, and not with text about it', () => {
    const tap = tapOf(anthropicMessages)
    const text = named('content_block_delta', { delta: { text: 'message_stop "error" "usage"' } })
    expect(push(tap, start, text, stop, data({}))).toEqual([
      [start, ''],
      [text, ''],
      ['', stop],
      ['', data({})],
      ['', ''],
    ])
    expect([tap.verdict, tap.isWholeAtEnd()]).toEqual(['complete', false])
  })

  test('counts the last value of each count, in any event', () => {
    const tap = tapOf(anthropicMessages)
    expect(tap.usage).toBeNull()
    push(
      tap,
      start,
      named('message_delta', { usage: { output_tokens: 7, cache_read_input_tokens: null } }),
    )
    push(tap, data({ usage: 'x' }), data('"usage"'))
    expect(tap.usage).toEqual({
      inputTokens: 3,
      outputTokens: 7,
      cachedInputTokens: 0,
      reasoningTokens: 0,
    })
  })

  test.each([
    [{ error: { type: 'overloaded_error', message: 'no' } }, 'no'],
    [{ error: { type: 'overloaded_error' } }, 'no message'],
    [{ error: 7 }, 'no message'],
  ])('that begins with the error %j reports %s', (members, reported) => {
    const tap = tapOf(anthropicMessages)
    push(tap, ': comment\n\n', named('error', members), stop)
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', reported])
    expect(failureOf(tap)).toEqual([])
  })

  test.each([
    ['OpenAI’s', data({ error: { message: 'no', type: 'server_error', code: 500 } }), 'no'],
    [
      'OpenAI’s in an event of that name',
      `event: error\n${data({ error: { message: 'no' } })}`,
      'no',
    ],
    [
      'llama.cpp’s',
      `event: error\n${data({ code: 500, message: 'no', type: 'server_error' })}`,
      'no',
    ],
    ['words alone', 'event: error\ndata: no\n\n', undefined],
  ])('ends with an error from another format, %s, in its own', (_, failure, message) => {
    const early = tapOf(anthropicMessages)
    push(early, failure)
    expect([early.verdict, early.reportedError]).toEqual(['failed', message ?? 'no message'])
    const late = tapOf(anthropicMessages)
    const [, [shown = ''] = []] = push(late, start, failure)
    expect(parseEvents(shown).map(({ event, data: text }) => [event, JSON.parse(text)])).toEqual([
      [
        'error',
        {
          type: 'error',
          error: { type: 'api_error', message: message ?? 'The upstream reported a failure.' },
        },
      ],
    ])
    expect([late.verdict, late.reportedError, failureOf(late)]).toEqual(['failed', null, []])
  })

  test('with a later failure passes it on, and reports nothing', () => {
    const tap = tapOf(anthropicMessages)
    push(tap, start, named('error', { error: { message: 'no' } }))
    expect([tap.verdict, tap.reportedError]).toEqual(['failed', null])
  })

  test('that breaks ends with an error in Anthropic’s format', () => {
    expect(failureOf(tapOf(anthropicMessages))).toEqual([
      {
        event: 'error',
        data: { type: 'error', error: { type: 'timeout_error', message: 'It fell silent.' } },
      },
    ])
  })
})

test.each([
  ['openai-responses', { code: 'invalid_encrypted_content', message: 'x' }, true],
  ['openai-responses', { message: 'The encrypted content gAAA could not be verified.' }, true],
  ['openai-responses', { code: 'x', message: 'no' }, false],
  ['openai-responses', {}, false],
  [
    'anthropic-messages',
    { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' },
    true,
  ],
  ['anthropic-messages', { message: 'no signature' }, false],
  ['anthropic-messages', {}, false],
] as const)('%s: a refusal of %j is of another’s reasoning: %p', (id, said, isIt) => {
  const dialect = id === 'openai-responses' ? openaiResponses : anthropicMessages
  const refusal = { message: undefined, json: undefined, isNested: true, isWrapped: false, ...said }
  expect(dialect.refusesReasoning?.(refusal)).toBe(isIt)
})
