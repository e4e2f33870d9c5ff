/**
 * A stream in which a second answer begins is a broken answer: the client gets the first answer,
 * then an error in its dialect.
 */
import { describe } from 'bun:test'
import { stream } from '../support/scripted-upstream.ts'
import { GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const USER = [{ role: 'user', content: 'hi' }]
const MESSAGES = {
  path: '/v1/messages',
  body: { model: GATE, max_tokens: 9, stream: true, messages: USER },
}
const CHAT = { path: '/v1/chat/completions', body: { model: GATE, stream: true, messages: USER } }
const RESPONSES = { path: '/v1/responses', body: { model: GATE, stream: true, input: 'hi' } }

const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const data = (body: object) => `data: ${JSON.stringify(body)}\n\n`

const messageStart = (id: string, input_tokens: number) =>
  event('message_start', {
    message: {
      ...{ id, type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
      usage: { input_tokens, output_tokens: 1 },
    },
  })
const messageText = (text: string) =>
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
const messageEnd =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 7 },
  }) +
  event('message_stop', {})

const created = (id: string) =>
  event('response.created', {
    response: { id, object: 'response', status: 'in_progress', model: 'm', output: [] },
  })
const responseItem = (text: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
})
const responseText = (text: string) =>
  event('response.output_item.added', {
    output_index: 0,
    item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] },
  }) +
  event('response.output_text.delta', {
    ...{ item_id: 'msg_1', output_index: 0, content_index: 0, delta: text },
  })
const responseEnd = (id: string, text: string) =>
  event('response.output_item.done', { output_index: 0, item: responseItem(text) }) +
  event('response.completed', {
    response: {
      ...{ id, object: 'response', status: 'completed', model: 'm', output: [responseItem(text)] },
      usage: { input_tokens: 9, output_tokens: 7 },
    },
  })

const chunk = (id: string, delta: object, finish_reason: string | null = null, index = 0) =>
  data({
    ...{ id, object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index, delta, finish_reason }],
  })
const chatUsage = (id: string) =>
  data({
    ...{ id, object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] },
    usage: { prompt_tokens: 9, completion_tokens: 7 },
  })
const DONE = 'data: [DONE]\n\n'

const piece = (responseId: string, text: string, finishReason?: string) =>
  data({
    responseId,
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 7 },
  })

const row = (
  name: string,
  [target, request, pieces]: readonly [string, StageRow['request'], readonly string[]],
) => ({
  name,
  gateway: { gates: { [GATE]: [target] } },
  request: request ?? {},
  upstream: [stream(pieces)],
  sent: [{}],
})
const broken = (...given: Parameters<typeof row>): StageRow => ({
  ...row(...given),
  seen: {
    ...{ status: 200, ending: 'cut' },
    contains: ['First', 'started a second answer'],
    forbids: ['Second', 'm_2'],
  },
  settled: { outcome: 'failed', errorKind: 'upstream_error' },
})
const whole = (...given: Parameters<typeof row>): StageRow => ({
  ...row(...given),
  seen: { status: 200, contains: ['First'], forbids: ['second answer'] },
  settled: {
    outcome: 'succeeded',
    usage: { inputTokens: 9, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
  },
})

const CLAUDE = 'anthropic/claude-opus-4-8'
const OPENAI = 'openai/gpt-5'
const GROQ = 'groq/m'
const GEMINI = 'gemini/m'

const twoMessages = [
  messageStart('m_1', 9),
  messageText('First'),
  messageStart('m_2', 500),
  messageText('Second'),
  messageEnd,
]
const twoResponses = [
  created('m_1'),
  responseText('First'),
  created('m_2'),
  responseText('Second'),
  responseEnd('m_2', 'Second'),
]
const twoChats = [
  chunk('m_1', { role: 'assistant', content: 'First' }),
  chunk('m_1', {}, 'stop'),
  chunk('m_2', { role: 'assistant', content: 'Second' }),
  chunk('m_2', {}, 'stop'),
  chatUsage('m_2'),
  DONE,
]

describe('a second answer', () => {
  runRows([
    broken('of Messages', [CLAUDE, MESSAGES, twoMessages]),
    broken('of Messages, translated', [CLAUDE, CHAT, twoMessages]),
    broken('of Messages with the same id', [
      ...[CLAUDE, MESSAGES],
      twoMessages.map((each) => each.replace('m_2', 'm_1')),
    ] as never),
    broken('of Responses', [OPENAI, RESPONSES, twoResponses]),
    broken('of chat', [GROQ, CHAT, twoChats]),
    broken('of chat, translated', [GROQ, MESSAGES, twoChats]),
    broken('of Gemini', [
      GEMINI,
      CHAT,
      [piece('m_1', 'First', 'STOP'), piece('m_2', 'Second', 'STOP')],
    ]),
  ])
})

describe('no second answer', () => {
  runRows([
    whole('is a start that comes twice before anything else', [
      CLAUDE,
      MESSAGES,
      [messageStart('m_1', 9), messageStart('m_1', 9), messageText('First'), messageEnd],
    ]),
    whole('is a start that comes twice, translated', [
      CLAUDE,
      CHAT,
      [messageStart('m_1', 9), messageStart('m_1', 9), messageText('First'), messageEnd],
    ]),
    whole('is text that speaks of such events', [
      CLAUDE,
      MESSAGES,
      [messageStart('m_1', 9), messageText('First "message_start"'), messageEnd],
    ]),
    whole('is a response that was created twice before anything else', [
      OPENAI,
      RESPONSES,
      [created('m_1'), created('m_1'), responseText('First'), responseEnd('m_1', 'First')],
    ]),
    whole('is a role in each chunk, or an id of each chunk’s own', [
      GROQ,
      CHAT,
      [
        chunk('m_1', { role: 'assistant', content: 'First' }),
        chunk('m_3', { role: 'assistant', content: ' and more' }),
        chunk('m_4', { role: 'assistant', content: '' }, 'stop'),
        chatUsage('m_5'),
        DONE,
      ],
    ]),
    whole('is another choice that ends later, with an id of each chunk’s own', [
      GROQ,
      { ...CHAT, body: { ...CHAT.body, n: 2 } },
      [
        chunk('m_1', { role: 'assistant', content: 'First' }),
        chunk('m_3', {}, 'stop'),
        chunk('m_4', { role: 'assistant', content: 'Other' }, null, 1),
        chunk('m_5', {}, 'stop', 1),
        chatUsage('m_6'),
        DONE,
      ],
    ]),
    whole('is what Gemini adds to an answer after its reason to end', [
      GEMINI,
      CHAT,
      [piece('m_1', 'First', 'STOP'), piece('m_1', ' and more', 'STOP')],
    ]),
  ])
})
