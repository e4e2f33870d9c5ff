/**
 * Answers of calls, for readers of the OpenAPI document: whole, and as the events of a stream.
 * Tests hold each against its schema. Readers see the schema alone where there is no example here.
 */

export interface AnswerExample {
  readonly whole: unknown
  /** The text of an event stream; lines of one event, events apart. */
  readonly events?: readonly (readonly string[])[]
}

const said = 'Hello! How can I help?'

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1795251909,
  model: 'gpt-5-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 },
}

function chunk(delta: object, finishReason: string | null): string[] {
  const { id, created, model } = completion
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return [
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices })}`,
  ]
}

const chunks = [
  chunk({ role: 'assistant', content: 'Hello!' }, null),
  chunk({ content: ' How can I help?' }, 'stop'),
  ['data: [DONE]'],
]

function named(event: string, data: object): string[] {
  return [`event: ${event}`, `data: ${JSON.stringify(data)}`]
}

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1795251909,
  status: 'completed',
  model: 'gpt-5-mini',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said, annotations: [] }],
    },
  ],
  store: false,
  usage: { input_tokens: 9, output_tokens: 7, total_tokens: 16 },
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: said }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 7 },
}

const begun = {
  id: 'req_01a1fd5a3257757392d2d51dd0eb0a62',
  object: 'chat',
  created_at: 1795251909,
  gate_id: 'demo',
  model: 'sandbox/echo',
}
const chat = {
  ...begun,
  content: said,
  finish_reason: 'stop',
  usage: { input_tokens: 9, output_tokens: 7, cached_input_tokens: 0, reasoning_tokens: 0 },
  cost: { usd: null, status: 'unknown' },
  latency_ms: 412,
  attempts: [{ target: 'sandbox/echo', status: 200, ms: 411 }],
}

const chatExample: AnswerExample = {
  whole: chat,
  events: [
    named('chat.started', begun),
    named('chat.delta', { content: said }),
    named('chat.completed', chat),
  ],
}

export const ANSWER_EXAMPLES: Readonly<Record<string, AnswerExample>> = {
  createResponse: {
    whole: response,
    events: [
      named('response.created', {
        type: 'response.created',
        sequence_number: 0,
        response: { ...response, status: 'in_progress', output: [], usage: null },
      }),
      named('response.output_text.delta', {
        type: 'response.output_text.delta',
        sequence_number: 1,
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: said,
      }),
      named('response.completed', { type: 'response.completed', sequence_number: 2, response }),
    ],
  },
  createChatCompletion: { whole: completion, events: chunks },
  createMessage: {
    whole: message,
    events: [
      named('message_start', {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null },
      }),
      named('content_block_start', {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }),
      named('content_block_delta', {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: said },
      }),
      named('content_block_stop', { type: 'content_block_stop', index: 0 }),
      named('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 7 },
      }),
      named('message_stop', { type: 'message_stop' }),
    ],
  },
  countMessageTokens: { whole: { input_tokens: 9 } },
  createEmbeddings: {
    whole: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.12, -0.34, 0.56] }],
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 2, total_tokens: 2 },
    },
  },
  createChat: chatExample,
  createPlaygroundChat: chatExample,
  createFimCompletion: {
    whole: {
      ...completion,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '    return a + b' },
          finish_reason: 'stop',
        },
      ],
    },
    events: chunks,
  },
  createAltChatCompletion: { whole: completion, events: chunks },
}
