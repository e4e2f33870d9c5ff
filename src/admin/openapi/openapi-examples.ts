/**
 * One example for every operation that needs one: they are shown in the document and run by
 * test/e2e/openapi-examples.test.ts against a server with the sandbox. A new route adds its line
 * here, but for those of a resource that is described.
 */

export interface OperationExample {
  /** Path and query parameters by name. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>
  /** Bodies by title; the first is the one that readers see first. */
  readonly bodies?: Readonly<Record<string, unknown>>
  /**
   * The source of a parameter that nobody can know beforehand: parameter → runtime expression on
   * the answer of another operation (`$response.body#/id`, `$response.header.x-request-id`). The
   * document says it as a link.
   */
  readonly after?: {
    readonly operationId: string
    readonly parameters: Readonly<Record<string, string>>
  }
  /** The status where it cannot be a success: what the example needs is not in a test server. */
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

  testGate: { parameters: { id: 'assistant' }, bodies: { Nothing: {} } },
  importKey: { bodies: { 'A key': { name: 'old application', key: 'legacy_3f9c2b7d1e8a4c60' } } },

  setProviderKey: {
    parameters: { provider: 'sandbox' },
    bodies: { 'A key': { key: 'sandbox-key-of-this-account' } },
  },

  getLog: {
    parameters: { id: 'req_01a1fd5a3257757392d2d51dd0eb0a62' },
    after: { operationId: 'createResponse', parameters: { id: '$response.header.x-request-id' } },
  },
  exportLogs: { parameters: { format: 'ndjson' } },
  verifyCosts: {
    bodies: { 'Look only': {}, 'And put them right': { from: '2026-11-01T00:00:00Z', fix: true } },
  },

  probeOwnedModel: { parameters: { slug: 'house-model' } },
  deleteOwnedModelCredential: { parameters: { slug: 'house-model' } },

  testWebhook: {
    parameters: { id: WEBHOOK },
    after: { operationId: 'createWebhook', parameters: ITS_ID },
  },

  updateAccount: { bodies: { 'Another name': { name: 'Example Ltd' } } },
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
  deleteMember: {
    parameters: { id: MEMBER },
    after: { operationId: 'listMembers', parameters: { id: '$response.body#/data/0/id' } },
    // The only member there is owns the account.
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
    // Nobody has made this one.
    expects: 404,
  },
  // A test server has no identity provider, and shows its figures to nobody.
  beginOidc: { bodies: { 'Back to the front page': { returnTo: '/' } }, expects: 404 },
  endOidc: { expects: 404 },
  getMetrics: { expects: 404 },
}
