/**
 * Streams as providers send them, for tests that cut streams at every byte. Shapes: recorded
 * traffic.
 */

export interface StreamFixture {
  readonly name: string
  readonly text: string
  readonly usage: {
    inputTokens: number
    outputTokens: number
    cachedInputTokens: number
    reasoningTokens: number
  } | null
  readonly verdict: 'open' | 'complete' | 'failed'
  readonly isWholeAtEnd: boolean
}

const event = (data: object) =>
  `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`
const chunk = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const DONE = 'data: [DONE]\n\n'

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'gpt-5',
  output: [],
  usage: null,
}
const RESPONSE_USAGE = {
  input_tokens: 865,
  input_tokens_details: { cached_tokens: 512 },
  output_tokens: 163,
  output_tokens_details: { reasoning_tokens: 128 },
  total_tokens: 1028,
}
const RESPONSES_HEAD = [
  event({ type: 'response.created', sequence_number: 0, response: RESPONSE }),
  event({
    type: 'response.output_text.delta',
    sequence_number: 1,
    delta: 'Grüße 👋 "usage" [DONE]',
    obfuscation: 'x',
  }),
  event({
    type: 'response.apply_patch_call_operation_diff.delta',
    sequence_number: 2,
    delta: '{"error":1}',
  }),
]

export const RESPONSES_STREAMS: readonly StreamFixture[] = [
  {
    name: 'completed',
    text: [
      ...RESPONSES_HEAD,
      event({
        type: 'response.completed',
        sequence_number: 3,
        response: { ...RESPONSE, usage: RESPONSE_USAGE },
      }),
    ].join(''),
    usage: { inputTokens: 865, outputTokens: 163, cachedInputTokens: 512, reasoningTokens: 128 },
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'incomplete, then [DONE], CRLF',
    text: [
      ...RESPONSES_HEAD,
      event({
        type: 'response.incomplete',
        sequence_number: 3,
        response: { usage: RESPONSE_USAGE },
      }),
      DONE,
    ]
      .join('')
      .replaceAll('\n', '\r\n'),
    usage: { inputTokens: 865, outputTokens: 163, cachedInputTokens: 512, reasoningTokens: 128 },
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'the upstream reports an error',
    text: [
      RESPONSES_HEAD[0],
      event({
        type: 'error',
        sequence_number: 1,
        error: { type: 'server_error', message: 'boom' },
      }),
      event({
        type: 'response.failed',
        sequence_number: 2,
        response: { ...RESPONSE, status: 'failed' },
      }),
    ].join(''),
    usage: null,
    verdict: 'failed',
    isWholeAtEnd: false,
  },
  { name: 'cut', text: RESPONSES_HEAD.join(''), usage: null, verdict: 'open', isWholeAtEnd: false },
]

const delta = (content: string, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
})
const finish = (more: object = {}) => ({
  ...delta(''),
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  ...more,
})
const CHAT_USAGE = {
  prompt_tokens: 45,
  completion_tokens: 662,
  total_tokens: 707,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 600 },
}
const COUNTED = { inputTokens: 45, outputTokens: 662, cachedInputTokens: 40, reasoningTokens: 600 }
const TRICKY = '"usage":{"prompt_tokens":9} "error" "finish_reason":"stop" [DONE] 日本 👋'

export const CHAT_STREAMS: readonly StreamFixture[] = [
  {
    name: 'without usage',
    text: [chunk(delta(TRICKY)), chunk(finish()), DONE].join(''),
    usage: null,
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'usage in a chunk of its own',
    text: [
      chunk(delta('a', { usage: null })),
      chunk(finish({ usage: null })),
      chunk({ ...delta(''), choices: [], usage: CHAT_USAGE }),
      DONE,
    ].join(''),
    usage: COUNTED,
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'usage in the last chunk with choices, and a vendor member',
    text: [
      ': comment\n\n',
      chunk(delta(TRICKY)),
      chunk(finish({ usage: CHAT_USAGE, x_groq: { usage: { prompt_tokens: 1 } } })),
      DONE,
    ].join(''),
    usage: COUNTED,
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'no [DONE]',
    text: [chunk(delta('a')), chunk(finish())].join(''),
    usage: null,
    verdict: 'open',
    isWholeAtEnd: true,
  },
  {
    name: 'spaces in the JSON, no [DONE]',
    text: 'data: {"choices" : [{"finish_reason" : "stop", "delta" : {}}]}\n\n',
    usage: null,
    verdict: 'open',
    isWholeAtEnd: true,
  },
  {
    name: 'cut before the finish',
    text: chunk(delta(TRICKY)),
    usage: null,
    verdict: 'open',
    isWholeAtEnd: false,
  },
  {
    name: 'an error in the middle',
    text: [chunk(delta('a')), chunk({ error: { message: 'overloaded', code: 503 } }), DONE].join(
      '',
    ),
    usage: null,
    verdict: 'failed',
    isWholeAtEnd: false,
  },
  {
    name: 'CR LF line ends',
    text: [chunk(delta('a')), chunk(finish({ usage: CHAT_USAGE })), DONE]
      .join('')
      .replaceAll('\n', '\r\n'),
    usage: COUNTED,
    verdict: 'complete',
    isWholeAtEnd: false,
  },
]

const MESSAGES_HEAD = [
  event({
    type: 'message_start',
    message: {
      id: 'msg_1',
      usage: { input_tokens: 5, cache_read_input_tokens: 40, output_tokens: 1 },
    },
  }),
  event({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'message_stop "usage":{"output_tokens":9} "error" 日本 👋' },
  }),
  event({ type: 'content_block_stop', index: 0 }),
]
const MESSAGES_TAIL = [
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 662 },
  }),
  event({ type: 'message_stop' }),
]
const MESSAGES_COUNTED = {
  inputTokens: 45,
  outputTokens: 662,
  cachedInputTokens: 40,
  reasoningTokens: 0,
}

export const MESSAGES_STREAMS: readonly StreamFixture[] = [
  {
    name: 'whole',
    text: [...MESSAGES_HEAD, ...MESSAGES_TAIL].join(''),
    usage: MESSAGES_COUNTED,
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'CR LF line ends, a ping, an event nobody knows',
    text: [
      event({ type: 'ping' }),
      ...MESSAGES_HEAD,
      event({ type: 'unheard_of', error: 1 }),
      ...MESSAGES_TAIL,
    ]
      .join('')
      .replaceAll('\n', '\r\n'),
    usage: MESSAGES_COUNTED,
    verdict: 'complete',
    isWholeAtEnd: false,
  },
  {
    name: 'cut',
    text: MESSAGES_HEAD.join(''),
    usage: { ...MESSAGES_COUNTED, outputTokens: 1 },
    verdict: 'open',
    isWholeAtEnd: false,
  },
  {
    name: 'an error in the middle',
    text: [
      ...MESSAGES_HEAD,
      event({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }),
    ].join(''),
    usage: { ...MESSAGES_COUNTED, outputTokens: 1 },
    verdict: 'failed',
    isWholeAtEnd: false,
  },
]

/** A stream with usage, and the stream that a client without usage receives. */
export const HIDDEN_USAGE = {
  sent: [
    chunk(delta(TRICKY, { usage: null, obfuscation: 'ab' })),
    'data: {"usage" : null,"id":"c1","big":12345678901234567890,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    chunk({ ...delta(''), choices: [], usage: CHAT_USAGE }),
    DONE,
  ].join(''),
  shown: [
    chunk(delta(TRICKY, { obfuscation: 'ab' })),
    'data: {"id":"c1","big":12345678901234567890,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    DONE,
  ].join(''),
  usage: COUNTED,
}
