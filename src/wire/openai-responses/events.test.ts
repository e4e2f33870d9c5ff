import { describe, expect, test } from 'bun:test'
import type { ChatEvent } from '../chat-answer.ts'
import { openaiResponsesUpstreamCodec } from './index.ts'

const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 7 },
}
const ITEMS = {
  reasoning: {
    type: 'reasoning',
    id: 'rs_1',
    summary: [
      { type: 'summary_text', text: 'hä? 👋' },
      { type: 'summary_text', text: 'ja' },
    ],
    encrypted_content: 'whole==',
  },
  message: {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Grüße', annotations: [], logprobs: [] }],
  },
  call: {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'weather',
    arguments: '{"city": "Ulm"}',
  },
  bare: { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'now', arguments: '' },
}
const response = (members: object) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_765_000_000,
  model: 'gpt-x-1',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
  ...members,
})
const HEAD = { id: 'resp_1', model: 'gpt-x-1', createdAt: 1_765_000_000 }
const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, ...members })}\n\n`
const added = (output_index: number, item: object) =>
  event('response.output_item.added', { output_index, item })
const done = (output_index: number, item: object) =>
  event('response.output_item.done', { output_index, item })
const delta = (kind: string, output_index: number, words: string, members: object = {}) =>
  event(`response.${kind}.delta`, { output_index, delta: words, obfuscation: 'x9', ...members })
const CREATED = event('response.created', { response: response({ status: 'in_progress' }) })
const COMPLETED = event('response.completed', { response: response({ usage: USAGE }) })

const STREAM = [
  CREATED,
  event('response.in_progress', { response: response({ status: 'in_progress' }) }),
  added(0, { ...ITEMS.reasoning, summary: [], encrypted_content: 'short' }),
  event('response.reasoning_summary_part.added', { output_index: 0, summary_index: 0 }),
  delta('reasoning_summary_text', 0, 'hä? ', { summary_index: 0 }),
  delta('reasoning_summary_text', 0, '👋', { summary_index: 0 }),
  delta('reasoning_summary_text', 0, 'ja', { summary_index: 1 }),
  done(0, ITEMS.reasoning),
  added(1, { ...ITEMS.message, content: [] }),
  event('response.content_part.added', { output_index: 1, content_index: 0 }),
  delta('output_text', 1, 'Grü', { logprobs: [{ token: 'Grü', logprob: -0.5, top_logprobs: [] }] }),
  event('response.unheard_of', { output_index: 1 }),
  delta('output_text', 1, 'ße', { logprobs: [] }),
  event('response.output_text.done', { output_index: 1, text: 'Grüße' }),
  done(1, ITEMS.message),
  added(2, { ...ITEMS.call, arguments: '' }),
  delta('function_call_arguments', 2, ''),
  delta('function_call_arguments', 2, '{"city":'),
  delta('function_call_arguments', 2, ' "Ulm"}'),
  event('response.function_call_arguments.done', { output_index: 2, arguments: '{"city": "Ulm"}' }),
  done(2, ITEMS.call),
  added(3, ITEMS.bare),
  done(3, ITEMS.bare),
  COMPLETED,
].join('')
const COUNTED = { inputTokens: 20, outputTokens: 12, cachedInputTokens: 5, reasoningTokens: 7 }
const EVENTS: ChatEvent[] = [
  { type: 'start', ...HEAD },
  { type: 'reasoning-delta', text: 'hä? ' },
  { type: 'reasoning-delta', text: '👋' },
  { type: 'reasoning-delta', text: '\n\nja' },
  { type: 'reasoning-end', seal: { type: 'encrypted', value: 'whole==' } },
  {
    type: 'text-delta',
    text: 'Grü',
    logprobs: { content: [{ token: 'Grü', logprob: -0.5, top_logprobs: [] }], refusal: null },
  },
  { type: 'text-delta', text: 'ße' },
  { type: 'text-end' },
  { type: 'tool-call-start', index: 0, id: 'call_1', name: 'weather' },
  { type: 'tool-call-delta', index: 0, arguments: '{"city":' },
  { type: 'tool-call-delta', index: 0, arguments: ' "Ulm"}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-start', index: 1, id: 'call_2', name: 'now' },
  { type: 'tool-call-delta', index: 1, arguments: '{}' },
  { type: 'tool-call-end', index: 1 },
  { type: 'usage', usage: COUNTED },
  { type: 'finish', reason: 'tool_calls' },
]

function decode(pieces: readonly Uint8Array[]) {
  const decoder = openaiResponsesUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}
const decodeText = (stream: string) => decode([Buffer.from(stream)])

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte', () => {
    const bytes = Buffer.from(STREAM)
    const expected = { events: EVENTS, isComplete: true }
    expect(decode([bytes])).toEqual(expected)
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected)
    expect(decode(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
  })

  test('without its event names gives the same', () => {
    expect(decodeText(STREAM.replaceAll(/^event: .*\n/gm, '')).events).toEqual(EVENTS)
  })

  test('without its last event was cut', () => {
    expect(decodeText(STREAM.slice(0, -COMPLETED.length)).isComplete).toBe(false)
  })

  test.each([
    ['an event cut short', 'data: {"type":"response.output_text.delta","del'],
    ['one that is not an object', 'event: response.output_text.delta\ndata: []'],
    ['one whose name is garbled too', 'event: response.output_te\ndata: {"type":"respo'],
    ['one with an unknown name', 'event: response.in_progress\ndata: {"type":'],
    ['one without its data', 'event: response.output_text.delta'],
    ['one whose data are empty', 'event: response.output_text.delta\ndata:'],
  ])('with %s has lost something: it is broken, and ends there', (_, broken) => {
    const { events, isComplete } = decodeText(
      `${CREATED}${delta('output_text', 1, 'a')}${broken}\n\n${COMPLETED}`,
    )
    expect(events.slice(1)).toEqual([
      { type: 'text-delta', text: 'a' },
      { type: 'error', message: 'The upstream sent an event that is not valid JSON.' },
    ])
    expect(isComplete).toBe(false)
  })

  describe('with a last event that repeats the answer', () => {
    const ends = (output: readonly object[], kind = 'completed') =>
      event(`response.${kind}`, { response: response({ output, status: kind }) })
    const message = (text: string) => ({
      type: 'message',
      content: [{ type: 'output_text', text }],
    })
    const LOST = {
      type: 'error',
      message: 'The complete answer at the end of the stream differs from the streamed answer.',
    } as const

    test.each([
      ['text', delta('output_text', 0, 'Grü'), ends([ITEMS.message])],
      [
        'text that a limit cut',
        delta('output_text', 0, 'Grü'),
        ends([ITEMS.message], 'incomplete'),
      ],
      ['a whole message', delta('output_text', 0, 'Grüße'), ends([ITEMS.message, message('!')])],
      [
        'a refusal',
        '',
        ends([{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }]),
      ],
      [
        'arguments',
        added(1, ITEMS.call) + delta('function_call_arguments', 1, '{"city":"U"}'),
        ends([ITEMS.call]),
      ],
      ['a call', delta('output_text', 0, 'Grüße'), ends([ITEMS.message, ITEMS.call])],
    ])('has failed where it lost %s', (_, sent, end) => {
      const { events, isComplete } = decodeText(
        CREATED + delta('reasoning_text', 9, 'hm') + sent + end,
      )
      expect(events.at(-1)).toEqual(LOST)
      expect(isComplete).toBe(false)
    })

    test('ends well if they agree, apart from spelling and the order of calls', () => {
      const calls = [{ ...ITEMS.call, arguments: '{"city":"\\u0055lm"}' }, ITEMS.bare]
      const { events, isComplete } = decodeText(
        STREAM.slice(0, -COMPLETED.length) + ends([message(' Grüße\n'), ...calls.reverse()]),
      )
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool_calls' })
      expect(isComplete).toBe(true)
    })

    test('may be all there is', () => {
      const { events } = decodeText(CREATED + ends([ITEMS.message, ITEMS.call]))
      expect(events).toEqual([
        { type: 'start', ...HEAD },
        { type: 'text-delta', text: 'Grüße' },
        { type: 'text-end' },
        { type: 'tool-call-start', index: 0, id: 'call_1', name: 'weather' },
        { type: 'tool-call-delta', index: 0, arguments: '{"city": "Ulm"}' },
        { type: 'tool-call-end', index: 0 },
        { type: 'finish', reason: 'tool_calls' },
      ])
    })
  })

  test('with [DONE] before its last event was cut', () => {
    const { events, isComplete } = decodeText(`${delta('output_text', 1, 'a')}data: [DONE]\n\n`)
    expect(events).toEqual([{ type: 'text-delta', text: 'a' }])
    expect(isComplete).toBe(false)
  })

  test('takes nothing after its end, not even [DONE], which some servers send', () => {
    expect(decodeText(`${STREAM}data: [DONE]\n\n${STREAM}`).events).toEqual(EVENTS)
  })

  test('of whole items without deltas gives all of them', () => {
    const items = Object.values(ITEMS).map((item, index) => done(index, item))
    const decoded = decodeText(CREATED + items.join('') + COMPLETED).events
    expect(decoded).toEqual([
      { type: 'start', ...HEAD },
      { type: 'reasoning-delta', text: 'hä? 👋\n\nja' },
      { type: 'reasoning-end', seal: { type: 'encrypted', value: 'whole==' } },
      { type: 'text-delta', text: 'Grüße' },
      { type: 'text-end' },
      { type: 'tool-call-start', index: 0, id: 'call_1', name: 'weather' },
      { type: 'tool-call-delta', index: 0, arguments: '{"city": "Ulm"}' },
      { type: 'tool-call-end', index: 0 },
      ...EVENTS.slice(12),
    ])
  })

  test('keeps parallel calls apart when their pieces alternate', () => {
    const argumentsOf = (index: number, words: string) =>
      delta('function_call_arguments', index, words)
    const { events } = decodeText(
      [
        added(0, ITEMS.call),
        added(1, ITEMS.bare),
        argumentsOf(1, '{"b"'),
        argumentsOf(0, '{"a"'),
        argumentsOf(1, ':2}'),
        argumentsOf(0, ':1}'),
        done(1, ITEMS.bare),
        done(0, ITEMS.call),
      ].join(''),
    )
    const written = [0, 1].map((index) =>
      events.flatMap((event) =>
        event.type === 'tool-call-delta' && event.index === index ? event.arguments : '',
      ),
    )
    expect(written.map((pieces) => pieces.join(''))).toEqual(['{"a":1}', '{"b":2}'])
  })

  test('with both the text and a summary of the reasoning passes on the first of them', () => {
    const item = { type: 'reasoning', summary: [] }
    const { events } = decodeText(
      added(0, item) +
        delta('reasoning_text', 0, 'long', { content_index: 0 }) +
        delta('reasoning_summary_text', 0, 'short', { summary_index: 0 }) +
        done(0, item),
    )
    expect(events).toEqual([{ type: 'reasoning-delta', text: 'long' }, { type: 'reasoning-end' }])
  })

  test('passes a refusal on', () => {
    expect(decodeText(delta('refusal', 0, 'No.')).events).toEqual([
      { type: 'refusal-delta', text: 'No.' },
    ])
  })

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    [undefined, 'length'],
  ] as const)('incomplete by %s ends with %s, even if a call was cut', (reason, finish) => {
    const incomplete = response({
      status: 'incomplete',
      incomplete_details: { reason },
      usage: USAGE,
    })
    const { events, isComplete } = decodeText(
      added(0, ITEMS.call) + event('response.incomplete', { response: incomplete }),
    )
    expect(events.slice(-2)).toEqual([
      { type: 'usage', usage: COUNTED },
      { type: 'finish', reason: finish },
    ])
    expect(isComplete).toBe(true)
  })

  test.each([
    ['nested', { error: { type: 'x', code: 'no_quota', message: 'No quota' } }],
    ['flat', { code: 'no_quota', message: 'No quota', param: null }],
  ])(
    'passes the upstream’s failure on once, and before the model began alone: %s',
    (_, members) => {
      const failed = response({
        status: 'failed',
        error: { code: 'no_quota', message: 'No quota' },
      })
      const failure = { type: 'error' as const, message: 'No quota', code: 'no_quota' }
      const end = event('response.failed', { response: failed })
      expect(decodeText(CREATED + event('error', members) + end)).toEqual({
        events: [failure],
        isComplete: false,
      })
      expect(decodeText(CREATED + end).events).toEqual([failure])
      const begun = decodeText(CREATED + added(0, ITEMS.reasoning) + end).events
      expect(begun).toEqual([{ type: 'start', ...HEAD }, failure])
    },
  )
})

describe('a whole answer', () => {
  test('keeps reasoning, text, calls and usage', () => {
    const body = response({ output: Object.values(ITEMS), usage: USAGE })
    expect(openaiResponsesUpstreamCodec.decodeAnswer(body)).toEqual({
      ...HEAD,
      content: [
        { type: 'reasoning', text: 'hä? 👋\n\nja', seal: { type: 'encrypted', value: 'whole==' } },
        { type: 'text', text: 'Grüße' },
        { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city": "Ulm"}' },
        { type: 'tool-call', id: 'call_2', name: 'now', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: COUNTED,
    })
  })

  test('keeps a refusal, and token probabilities as chat answers have them', () => {
    const logprobs = [{ token: 'a', logprob: 0, bytes: [97], top_logprobs: [] }]
    const content = [
      { type: 'output_text', text: 'a', logprobs },
      { type: 'refusal', refusal: 'no' },
    ]
    const body = response({ output: [{ type: 'message', content }] })
    expect(openaiResponsesUpstreamCodec.decodeAnswer(body)).toMatchObject({
      content: [
        { type: 'text', text: 'a' },
        { type: 'refusal', text: 'no' },
      ],
      finishReason: 'stop',
      logprobs: { content: logprobs, refusal: null },
    })
  })

  test('needs nothing but its output: unknown items and missing members do not fail it', () => {
    expect(
      openaiResponsesUpstreamCodec.decodeAnswer({ output: [{ type: 'web_search_call' }, 7] }),
    ).toEqual({
      content: [],
      finishReason: 'stop',
      unread: ['answer.output[].type=web_search_call'],
      usage: null,
    })
  })

  test('with a failed status, or without output, is an error', () => {
    const failed = response({ status: 'failed', error: { code: 'server_error', message: 'Broke' } })
    expect(() => openaiResponsesUpstreamCodec.decodeAnswer(failed)).toThrow('Broke')
    expect(() =>
      openaiResponsesUpstreamCodec.decodeAnswer({ status: 'cancelled', output: [] }),
    ).toThrow('failed')
    expect(() => openaiResponsesUpstreamCodec.decodeAnswer({})).toThrow('without output')
  })
})

describe('a second response in the same stream', () => {
  const created = (id: string) => ({
    type: 'response.created',
    response: response({ id, status: 'in_progress' }),
  })
  const text = (delta: string) => ({
    ...{ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0 },
    delta,
  })
  const decodeAll = (events: readonly object[]) => {
    const decoder = openaiResponsesUpstreamCodec.createEventDecoder()
    const bytes = events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
    return [...decoder.push(Buffer.from(bytes)), ...decoder.end()]
  }

  test.each(['resp_2', 'resp_1'])('with the id %s is an error, and ends the answer', (id) => {
    const decoded = decodeAll([created('resp_1'), text('First'), created(id), text('Second')])
    expect(decoded.at(-1)).toEqual({
      type: 'error',
      message: 'The upstream started a second answer in the same stream.',
    })
    expect(JSON.stringify(decoded)).not.toContain('Second')
  })

  test('is none where the same one is created twice before anything else', () => {
    const decoded = decodeAll([created('resp_1'), created('resp_1'), text('First')])
    expect(decoded.map(({ type }) => type)).toEqual(['start', 'text-delta'])
  })
})
