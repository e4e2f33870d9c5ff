export interface OperationExample {
  readonly parameters?: Readonly<Record<string, string | number | boolean>>
  readonly bodies?: Readonly<Record<string, unknown>>
  /**
   * The source of a parameter that is only known at run time: parameter → runtime expression on the
   * answer of another operation (`$response.body#/id`, `$response.header.x-request-id`). Shown as a
   * link in the document.
   */
  readonly after?: {
    readonly operationId: string
    readonly parameters: Readonly<Record<string, string>>
  }
  readonly expects?: number
}

const hello = [{ role: 'user', content: 'Hello, gateway' }]
const weather = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
}

const PASSWORD = 'correct horse battery staple'
const KEY = 'key_01a1fbc63aa470d6877cf556d6121edd'
const TOKEN = 'key_01a1fbc63aa470d6877cf556d6121ede'
const WEBHOOK = 'wh_01a1fbc63aa470d6877cf556d6121edd'
const MEMBER = 'user_01a1fbc63aa470d6877cf556d6121edd'
const SESSION = 'sess_01a1fbc63aa470d6877cf556d6121edd'
const ITS_ID = { id: '$response.body#/id' }

export const OPERATION_EXAMPLES: Readonly<Record<string, OperationExample>> = {
  createResponse: {
    bodies: {
      'A prompt': { model: 'demo', input: 'Hello, gateway' },
      'A stream': { model: 'demo', input: 'Hello, gateway', stream: true },
      'A tool': {
        model: 'demo',
        instructions: 'Answer in one sentence.',
        input: [{ role: 'user', content: 'How is the weather in Turin?' }],
        tools: [{ type: 'function', name: 'get_weather', parameters: weather }],
      },
      'The next turn of a tool loop': {
        model: 'demo',
        input: [
          { role: 'user', content: 'How is the weather in Turin?' },
          {
            type: 'function_call',
            call_id: 'call_1',
            name: 'get_weather',
            arguments: '{"city":"Turin"}',
          },
          { type: 'function_call_output', call_id: 'call_1', output: '{"sky":"clear"}' },
        ],
      },
    },
  },
  createChatCompletion: {
    bodies: {
      'A question': { gate_id: 'demo', messages: hello },
      'A stream': {
        model: 'demo',
        messages: hello,
        stream: true,
        stream_options: { include_usage: true },
      },
      'A tool': {
        model: 'demo',
        messages: hello,
        tools: [{ type: 'function', function: { name: 'get_weather', parameters: weather } }],
      },
    },
  },
  createMessage: {
    bodies: {
      'A question': { model: 'demo', max_tokens: 256, messages: hello },
      'A stream': { model: 'demo', max_tokens: 256, messages: hello, stream: true },
    },
  },
  countMessageTokens: { bodies: { 'A question': { model: 'demo', messages: hello } } },
  createEmbeddings: {
    bodies: {
      'Two texts': { model: 'demo', input: ['Hello', 'gateway'], dimensions: 8 },
      'As base64': { model: 'demo', input: 'Hello', encoding_format: 'base64' },
    },
  },
  createChat: {
    bodies: {
      'A question': { gate_id: 'demo', messages: hello },
      'A stream': { gate_id: 'demo', messages: hello, stream: true },
      Variables: {
        gate_id: 'demo',
        instructions: 'Answer in {{language}}.',
        vars: { language: 'Italian' },
        messages: hello,
      },
    },
  },
  createPlaygroundChat: {
    bodies: {
      'A question': { gate_id: 'demo', messages: hello },
      'A stream': { gate_id: 'demo', messages: hello, stream: true },
    },
  },
  createFimCompletion: {
    bodies: {
      'The middle of a function': {
        model: 'demo',
        prompt: 'def add(a, b):\n',
        suffix: '\nprint(add(1, 2))',
      },
      'A stream': { model: 'demo', prompt: 'def add(a, b):\n', stream: true },
    },
  },
  createAltChatCompletion: {
    bodies: {
      'A question': { model: 'demo', messages: hello },
      'A stream': { model: 'demo', messages: hello, stream: true },
    },
  },
  getModel: { parameters: { id: 'demo' } },
  getAltModel: { parameters: { id: 'demo' } },

  listGateStops: { parameters: { id: 'assistant' } },
  liftGateStop: {
    parameters: { id: 'assistant', kind: 'session', head: 'Jk3v9XqT0mWc5bNf' },
  },
  testGate: { parameters: { id: 'assistant' }, bodies: { Nothing: {} } },
  reload: { bodies: { Nothing: {} } },
  importKey: { bodies: { 'A key': { name: 'old application', key: 'legacy_3f9c2b7d1e8a4c60' } } },

  setProviderKey: {
    parameters: { provider: 'sandbox' },
    bodies: { 'A key': { key: 'sandbox-key-of-this-account' } },
  },

  // The sandbox is free, so its models cannot be priced.
  setModelPrice: {
    // provider-name-ok: an example of a model, which every provider has
    parameters: { provider: 'openai', model: 'gpt-example' },
    bodies: {
      'Its prices': { prices: [{ input: 5, output: 25, cachedInput: 0.5 }] },
    },
  },
  deleteModelPrice: {
    // provider-name-ok: as above
    parameters: { provider: 'openai', model: 'gpt-example' },
  },

  getLog: {
    parameters: { id: 'req_01a1fd5a3257757392d2d51dd0eb0a62' },
    after: { operationId: 'createResponse', parameters: { id: '$response.header.x-request-id' } },
  },
  exportUsage: { parameters: { format: 'focus' } },
  getUsageSession: {
    parameters: { id: '3fa9c81d00b7e642' },
    after: { operationId: 'getLog', parameters: { id: '$response.body#/session' } },
  },
  exportLogs: { parameters: { format: 'ndjson' } },
  verifyCosts: {
    bodies: { 'Look only': {}, 'And put them right': { from: '2026-11-01T00:00:00Z', fix: true } },
  },

  simulateBudget: {
    bodies: {
      'The last full month': { gateId: 'demo', limitUsd: 250, period: 'month' },
      'Each day since a time': {
        gateId: 'demo',
        limitTokens: 50000000,
        period: 'day',
        from: '2026-11-01T00:00:00Z',
      },
    },
  },

  probeOwnedModel: { parameters: { slug: 'house-model' } },
  deleteOwnedModelCredential: { parameters: { slug: 'house-model' } },

  testWebhook: {
    parameters: { id: WEBHOOK },
    after: { operationId: 'createWebhook', parameters: ITS_ID },
  },

  updateAccount: { bodies: { 'Another name': { name: 'Example Ltd' } } },
  exportEndUser: {
    parameters: { name: 'customer-4711' },
    after: { operationId: 'getLog', parameters: { name: '$response.body#/user' } },
  },
  eraseEndUser: {
    parameters: { name: 'customer-4711' },
    after: { operationId: 'getLog', parameters: { name: '$response.body#/user' } },
  },
  updateAttribution: { bodies: { 'Record end users': { endUsers: true } } },
  updateMember: {
    parameters: { id: MEMBER },
    bodies: { 'The new owner': { role: 'owner' } },
    after: { operationId: 'listMembers', parameters: { id: '$response.body#/data/0/id' } },
  },
  rotateKey: {
    parameters: { id: KEY },
    bodies: {
      'With an hour for whoever uses the old one': { oldEndsInSeconds: 3600 },
      'At once': { oldEndsInSeconds: 0 },
    },
    after: { operationId: 'createKey', parameters: ITS_ID },
  },
  stopAccessToken: {
    parameters: { id: TOKEN },
    bodies: { 'With a reason': { reason: 'The laptop was stolen.' } },
    after: { operationId: 'createAccessToken', parameters: ITS_ID },
  },
  liftAccessTokenStop: {
    parameters: { id: TOKEN },
    after: { operationId: 'createAccessToken', parameters: ITS_ID },
  },
  stopMember: {
    parameters: { id: MEMBER },
    bodies: { 'With a reason': { reason: 'On leave.' } },
    after: { operationId: 'listMembers', parameters: { id: '$response.body#/data/0/id' } },
    // The only member owns the account.
    expects: 409,
  },
  liftMemberStop: {
    parameters: { id: MEMBER },
    after: { operationId: 'listMembers', parameters: { id: '$response.body#/data/0/id' } },
  },
  rotateAccessToken: {
    parameters: { id: TOKEN },
    bodies: { 'At once': { oldEndsInSeconds: 0 } },
    after: { operationId: 'createAccessToken', parameters: ITS_ID },
  },
  deleteMember: {
    parameters: { id: MEMBER },
    after: { operationId: 'listMembers', parameters: { id: '$response.body#/data/0/id' } },
    // The only member owns the account.
    expects: 409,
  },
  signUp: {
    bodies: {
      'The first user, with a key': {
        email: 'jane@example.com',
        name: 'Jane Doe',
        password: PASSWORD,
      },
    },
  },
  listBudgetStops: {
    parameters: { id: 'bud_01a1fbc63aa470d6877cf556d6121edd' },
    after: { operationId: 'createBudget', parameters: ITS_ID },
  },
  liftBudgetStop: {
    parameters: {
      ...{ id: 'bud_01a1fbc63aa470d6877cf556d6121edd', kind: 'session', head: 'Jk3v9XqT0mWc5bNf' },
    },
    after: { operationId: 'createBudget', parameters: ITS_ID },
  },
  listBudgetHeads: {
    parameters: { id: 'bud_01a1fbc63aa470d6877cf556d6121edd' },
    after: { operationId: 'createBudget', parameters: ITS_ID },
  },
  signIn: { bodies: { 'By password': { email: 'jane@example.com', password: PASSWORD } } },
  changePassword: {
    bodies: {
      'Both passwords': { currentPassword: PASSWORD, newPassword: 'marble window late harvest' },
    },
  },
  deleteSession: {
    parameters: { id: SESSION },
    after: { operationId: 'listSessions', parameters: { id: '$response.body#/data/1/id' } },
  },
  getInvitationOffer: {
    bodies: { 'By its token': { invitation: `inv-${'0123456789abcdef'.repeat(4)}` } },
    expects: 404,
  },
  // A test server has no identity provider, and its metrics are off.
  beginOidc: { bodies: { 'Back to the front page': { returnTo: '/' } }, expects: 404 },
  endOidc: { expects: 404 },
  getMetrics: { expects: 404 },
}

interface AnswerExample {
  readonly whole: unknown
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
