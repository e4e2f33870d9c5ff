/**
 * Ids of objects in a provider's account: sent with the account's own key and for the operator's
 * account, and never with a key that accounts share.
 */
import { describe, expect, test } from 'bun:test'
import { CALL_ENDPOINTS } from '../../src/wire/dialects.ts'
import { writeSeal } from '../../src/wire/seal-carrier.ts'
import {
  CALLER,
  type ClientRequest,
  type GatewayScript,
  InProcessGateway,
  plantedCredentialOf,
} from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  chatBody,
  GATE,
  runRow,
  runRows,
  TARGET,
} from '../support/stage-rows.ts'

const file = { role: 'user', content: [{ type: 'file', file: { file_id: 'file-abc' } }] }
const withFile = { body: chatBody({ messages: [file] }) }
const responses = (members: object) => ({
  gateway: { gates: { [GATE]: ['openai/gpt-5'] } },
  request: { path: '/v1/responses', body: { model: GATE, input: 'hi', ...members } },
})
const messages = (members: object) => ({
  gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
  request: { path: '/v1/messages', body: chatBody({ max_tokens: 9, ...members }) },
})
const refused = (member: string) => ({
  seen: { status: 400, contains: [member, 'your own key'] },
  settled: { outcome: 'failed' as const, status: 400, attempts: 0 },
})
const OPERATOR = { isOperators: true } as const

interface Asked {
  readonly gateway: Partial<GatewayScript>
  readonly request: Partial<ClientRequest>
}

const chat = (members: object): Asked => ({
  gateway: { gates: { [GATE]: [TARGET] } },
  request: { body: chatBody(members) },
})
const mistral = (members: object): Asked => ({
  gateway: { gates: { [GATE]: ['mistral/mistral-large-latest'] } },
  request: { path: '/alt/v1/chat/completions', body: chatBody(members) },
})
const countTokens = (members: object): Asked => ({
  gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
  request: { path: '/v1/messages/count_tokens', body: chatBody(members) },
})
const input = (...items: object[]) => responses({ input: items })
const turn = (...content: object[]) => messages({ messages: [{ role: 'user', content }] })
const answered = (...content: object[]) => messages({ messages: [{ role: 'assistant', content }] })
const ofTool = (...content: object[]) => turn({ type: 'tool_result', tool_use_id: 't', content })
const fileSource = { source: { type: 'file', file_id: 'file_1' } }

const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/responses': { object: 'response', output: [] },
  '/v1/messages': { type: 'message', content: [] },
  '/v1/messages/count_tokens': { input_tokens: 1 },
}

/** Every place of an id, by the path that a refusal names. */
const IDS: readonly (readonly [param: string, asked: Asked])[] = [
  ['messages[0].content[0].file.file_id', { gateway: {}, request: withFile }],
  [
    'messages[0].content[1].file.file_id',
    chat({ messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, ...file.content] }] }),
  ],
  [
    'messages[1].content[0].file_id',
    chat({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ file_id: 'f' }] },
      ],
    }),
  ],
  ['messages[0].audio.id', chat({ messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] })],
  ['audio.voice.id', chat({ audio: { voice: { id: 'voice_1' }, format: 'mp3' } })],
  ['tools[0].library_ids', mistral({ tools: [{ type: 'document_library', library_ids: ['l'] }] })],
  ['tools[0].connector_id', mistral({ tools: [{ type: 'connector', connector_id: 'c' }] })],
  [
    'messages[0].content[0].file_id',
    mistral({ messages: [{ role: 'user', content: [{ type: 'file', file_id: 'f' }] }] }),
  ],
  ['tools[0].vector_store_ids', responses({ tools: [{ vector_store_ids: ['vs_1'] }] })],
  ['tools[0].container', responses({ tools: [{ type: 'code_interpreter', container: 'c' }] })],
  [
    'tools[1].container.file_ids',
    responses({ tools: [{}, { container: { type: 'auto', file_ids: ['f'] } }] }),
  ],
  [
    'tools[0].environment.container_id',
    responses({
      tools: [
        { type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } },
      ],
    }),
  ],
  [
    'tools[0].environment.file_ids',
    responses({
      tools: [{ type: 'shell', environment: { type: 'container_auto', file_ids: ['f'] } }],
    }),
  ],
  [
    'tools[0].environment.skills[0].skill_id',
    responses({
      tools: [
        {
          type: 'shell',
          environment: {
            type: 'container_auto',
            skills: [{ type: 'skill_reference', skill_id: 'skill_1' }],
          },
        },
      ],
    }),
  ],
  [
    'tools[0].input_image_mask.file_id',
    responses({ tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] }),
  ],
  ['tools[0].tunnel_id', responses({ tools: [{ type: 'mcp', tunnel_id: 'tunnel_1' }] })],
  [
    'input[0].tools[0].vector_store_ids',
    input({ type: 'additional_tools', tools: [{ type: 'file_search', vector_store_ids: ['v'] }] }),
  ],
  [
    'input[1].tools[0].container',
    input({}, { type: 'tool_search_output', tools: [{ container: 'cntr_1' }] }),
  ],
  [
    'input[0].content[1].file_id',
    input({
      role: 'user',
      content: [{ type: 'input_text' }, { type: 'input_file', file_id: 'f' }],
    }),
  ],
  [
    'input[0].content[0].file_id',
    input({ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }),
  ],
  [
    'input[0].output[0].file_id',
    input({ type: 'function_call_output', output: [{ type: 'input_file', file_id: 'f' }] }),
  ],
  [
    'input[0].output.file_id',
    input({ type: 'computer_call_output', output: { type: 'computer_screenshot', file_id: 'f' } }),
  ],
  [
    'input[0][0].content[0].file_id',
    responses({ input: [[{ content: [{ type: 'input_file', file_id: 'f' }] }]] }),
  ],
  [
    'prompt_cache_options.comparison_response_id',
    responses({ prompt_cache_options: { comparison_response_id: 'resp_1' } }),
  ],
  // A body with another content type is checked too.
  [
    'input[0].content[0].file_id',
    responses({
      type: 'tool_use',
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }],
    }),
  ],
  ['container', messages({ container: 'container_1' })],
  ['container.id', messages({ container: { id: 'container_1' } })],
  [
    'container.skills[1].skill_id',
    messages({
      container: {
        skills: [
          { type: 'anthropic', skill_id: 'pptx' },
          { type: 'custom', skill_id: 'skill_1' },
        ],
      },
    }),
  ],
  ['messages[0].content[0].file_id', turn({ type: 'container_upload', file_id: 'file_1' })],
  ['messages[0].content[0].source.file_id', turn({ type: 'image', ...fileSource })],
  ['messages[0].content[0].source.file_id', turn({ type: 'document', ...fileSource })],
  [
    'messages[0].content[0].source.content[0].source.file_id',
    turn({
      type: 'document',
      source: { type: 'content', content: [{ type: 'image', ...fileSource }] },
    }),
  ],
  ['messages[0].content[0].content[0].source.file_id', ofTool({ type: 'image', ...fileSource })],
  ['messages[0].content[0].content[0].source.file_id', ofTool({ type: 'document', ...fileSource })],
  [
    'messages[0].content[0].content[0].source.content[0].source.file_id',
    ofTool({
      type: 'document',
      source: { type: 'content', content: [{ type: 'image', ...fileSource }] },
    }),
  ],
  [
    'messages[0].content[0].content.content.source.file_id',
    answered({
      type: 'web_fetch_tool_result',
      tool_use_id: 't',
      content: { type: 'web_fetch_result', content: { type: 'document', ...fileSource } },
    }),
  ],
  [
    'messages[0].content[0].content.content.source.content[0].source.file_id',
    answered({
      type: 'web_fetch_tool_result',
      tool_use_id: 't',
      content: {
        type: 'web_fetch_result',
        content: { source: { type: 'content', content: [{ type: 'image', ...fileSource }] } },
      },
    }),
  ],
  ['diagnostics.previous_message_id', messages({ diagnostics: { previous_message_id: 'msg_1' } })],
  [
    'messages[0].content[0].source.file_id',
    countTokens({ messages: [{ role: 'user', content: [{ type: 'document', ...fileSource }] }] }),
  ],
]

/** Names that look like ids in members that no vendor reads as ids. */
const HONEST: readonly (readonly [what: string, asked: Asked])[] = [
  [
    'a session of Codex',
    responses({ client_metadata: { session_id: 's', thread_id: 't', turn_id: 'u' } }),
  ],
  [
    'variables of a prompt',
    {
      gateway: { gates: { [GATE]: [TARGET] } },
      request: {
        path: '/v3/chat',
        body: {
          gate_id: GATE,
          messages: [{ role: 'user', content: 'hi' }],
          vars: { thread_id: 't', file_id: 'f', container: 'c' },
        },
      },
    },
  ],
  [
    'examples of a tool’s input',
    messages({ tools: [{ name: 'read', input_schema: {}, input_examples: [{ file_id: 'f' }] }] }),
  ],
  [
    'a tool with a parameter of that name',
    responses({
      tools: [{ type: 'function', parameters: { properties: { file_id: { type: 'string' } } } }],
    }),
  ],
  ...['tool_use', 'mcp_tool_use', 'server_tool_use'].map((type): readonly [string, Asked] => [
    `the input of a ${type}`,
    answered({ type, id: 't', name: 'read', input: { file_id: 'mine', container: 'mine' } }),
  ]),
  [
    'the environment of a local shell',
    input({
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls'], env: { file_id: 'f', container: 'c' } },
    }),
  ],
  ['settings of a chat template', chat({ chat_template_kwargs: { thread_id: 't', file_id: 'f' } })],
  ['ids of an API that is not offered', chat({ thread_id: 't', assistant_id: 'a' })],
  ['metadata', chat({ metadata: { file_id: 'f', container: 'c' } })],
  [
    'calls that ran in a container',
    input(
      {
        type: 'shell_call',
        environment: { type: 'container_reference', container_id: 'cntr_1' },
      },
      { type: 'code_interpreter_call', container_id: 'cntr_1' },
    ),
  ],
  [
    'sources of an answer',
    input({
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'a',
          annotations: [
            { type: 'container_file_citation', container_id: 'c', file_id: 'f' },
            { type: 'file_citation', file_id: 'f' },
          ],
        },
      ],
    }),
  ],
  [
    'what a search found',
    input({ type: 'file_search_call', results: [{ file_id: 'f', text: 'a' }] }),
  ],
  [
    'a file that code wrote',
    answered({
      type: 'code_execution_tool_result',
      tool_use_id: 't',
      content: {
        type: 'code_execution_result',
        content: [{ type: 'code_execution_output', file_id: 'f' }],
      },
    }),
  ],
  [
    'a new container',
    responses({ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
  ],
  ['no container', messages({ container: null })],
  ['an empty container', messages({ container: '' })],
  ['no files', responses({ tools: [{ container: { type: 'auto', file_ids: [] } }] })],
  ['a first call under diagnostics', messages({ diagnostics: { previous_message_id: null } })],
  [
    'a skill that is everybody’s',
    messages({ container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] } }),
  ],
  ['a voice that is everybody’s', chat({ audio: { voice: 'alloy', format: 'mp3' } })],
  ['a connector that is everybody’s', responses({ tools: [{ connector_id: 'connector_gmail' }] })],
  ['text that names one', responses({ input: 'say {"file_id":"x"}' })],
  ['text that is one of the names', responses({ input: 'file_id' })],
  [
    'a result with such names as text',
    input({ type: 'function_call_output', output: '{"file_id":"f"}' }),
  ],
]

/** @param script beside what the call needs */
function sends({ gateway, request }: Asked, script: Partial<GatewayScript>): Promise<void> {
  const answer = ANSWERS[request.path ?? CHAT]
  return runRow({
    gateway: { ...gateway, ...script },
    request,
    upstream: [answer === undefined ? CHAT_ANSWER : json(200, answer)],
    seen: { status: 200 },
    sent: [{}],
    settled: { outcome: 'succeeded' },
  })
}

async function refuses(
  { gateway, request }: Asked,
  { param, said = [] }: { readonly param?: string; readonly said?: readonly string[] },
): Promise<void> {
  await runRow({
    gateway,
    request,
    seen: { status: 400, contains: said },
    settled: { outcome: 'failed', status: 400, attempts: 0 },
    check: (_, { text }) => {
      if (param !== undefined) expect(text).toContain(`'${param}' names something`)
    },
  })
}

const OWN_KEYS = { openai: 'account', anthropic: 'account', mistral: 'account' } as const

describe('an id of a thing in the provider’s account', () => {
  test.each(IDS)('%s is refused to an account that shares the credential', (param, asked) =>
    refuses(asked, { param, said: ['your own key'] }),
  )

  test.each(IDS)('%s passes for the operator’s account', (_, asked) =>
    sends(asked, { ...OPERATOR }),
  )

  test.each(IDS)('%s passes with the account’s own key', (_, asked) =>
    sends(asked, { credentials: OWN_KEYS }),
  )

  test('is named in the refusal’s param', async () => {
    const { gateway, request } = responses({ tools: [{ vector_store_ids: ['vs_1'] }] })
    await runRow({
      gateway,
      request,
      seen: {
        status: 400,
        json: { error: { code: 'provider_account_id', param: 'tools[0].vector_store_ids' } },
      },
      settled: { status: 400 },
    })
  })

  test('changes nothing else of the operator’s call', () =>
    runRow({
      gateway: { ...OPERATOR },
      request: withFile,
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ headers: { authorization: `Bearer ${plantedCredentialOf('openai')}` } }],
      settled: { credential: 'platform' },
      spent: { countsForQuota: true },
    }))
})

describe('an honest body', () => {
  test.each(HONEST)('with %s passes for an account that shares the credential', (_, asked) =>
    sends(asked, {}),
  )

  test.each(HONEST)('with %s passes for the operator’s account', (_, asked) =>
    sends(asked, { ...OPERATOR }),
  )

  test.each(HONEST)('with %s passes with the account’s own key', (_, asked) =>
    sends(asked, { credentials: OWN_KEYS }),
  )
})

test('every path of an id is tried here', () => {
  const tried = new Set(IDS.map(([param]) => param.replaceAll(/\[\d+\]/g, '')))
  const listed = Object.values(CALL_ENDPOINTS).flatMap(({ vendorIds }) =>
    (vendorIds?.paths.vendor ?? []).map((each) => (typeof each === 'string' ? each : each.path)),
  )
  // Tools have the same ids in the request and in an item of its input.
  const isTried = (path: string) =>
    tried.has(path) || (path.startsWith('input.tools.') && tried.has(path.slice('input.'.length)))
  expect(listed.filter((path) => !isTried(path))).toEqual([])
})

describe('an id that another rule refuses', () => {
  test.each([
    ['previous_response_id', responses({ previous_response_id: 'resp_1' })],
    ['conversation.id', responses({ conversation: { id: 'conv_1' } })],
    ['prompt.id', responses({ prompt: { id: 'pmpt_1' } })],
    [
      'prompt.variables.*.file_id',
      responses({ prompt: { variables: { one: { type: 'input_file', file_id: 'f' } } } }),
    ],
    [
      'thread.previous_message_id',
      messages({ thread: { type: 'continue', previous_message_id: 'msg_1' } }),
    ],
  ])('%s is refused to the operator’s account too', async (path, { gateway, request }) => {
    const refusedPaths = Object.values(CALL_ENDPOINTS).flatMap(
      ({ vendorIds }) => vendorIds?.paths.refused ?? [],
    )
    expect(refusedPaths).toContain(path)
    const { gates = {} } = gateway
    const { path: door = CHAT, body } = request
    const asked = new InProcessGateway({ gates, ...OPERATOR })
    expect(await asked.ask({ path: door, body })).toMatchObject({ status: 400 })
    expect(asked.upstream.sent).toEqual([])
  })
})

describe('an id that two readers may read in two ways', () => {
  const spelled = (text: string): Asked => ({
    gateway: {},
    request: { body: `{"model":"${GATE}","messages":[{"role":"user","content":[${text}]}]}` },
  })
  const WAYS: readonly (readonly [how: string, text: string, told: string])[] = [
    [
      'is spelled with an escape',
      '{"type":"file","file":{"file\\u005fid":"file-abc"}}',
      'messages[0].content[0].file.file_id',
    ],
    [
      'is spelled with an escape behind a hundred others',
      `{"type":"text","text":"${'\\u00e9'.repeat(100)}"},{"type":"file","file":{"file\\u005fid":"file-abc"}}`,
      'messages[0].content[1].file.file_id',
    ],
    [
      'has a letter as an escape, in capitals',
      '{"type":"file","file":{"\\u0066ile_id":"file-abc","x":"\\u00E9"}}',
      'messages[0].content[0].file.file_id',
    ],
    [
      'has an escape in a name around it',
      '{"type":"file","fil\\u0065":{"file_id":"file-abc"}}',
      'messages[0].content[0].file.file_id',
    ],
    [
      'is named twice, and the second is nothing',
      '{"type":"file","file":{"file_id":"file-abc","file_id":null}}',
      'twice',
    ],
    [
      'has an object around it that is named twice',
      '{"type":"file","file":{"file_id":"file-abc"},"file":{}}',
      'twice',
    ],
  ]
  test.each(WAYS)('%s is refused to an account that shares the credential', (_, text, told) =>
    refuses(spelled(text), { said: [told] }),
  )

  test.each(WAYS)('%s passes for the operator’s account', (_, text) =>
    sends(spelled(text), { ...OPERATOR }),
  )

  test('of an excepted type that is named twice is refused', () =>
    refuses(
      {
        ...messages({}),
        request: {
          path: '/v1/messages',
          body: `{"model":"${GATE}","max_tokens":9,"messages":[],"container":{"skills":[{"type":"custom","type":"anthropic","skill_id":"s"}]}}`,
        },
      },
      { said: ['twice'] },
    ))
})

describe('a member that reaches past the gate', () => {
  const routed = { body: chatBody({ models: ['openai/o1-pro'] }) }
  const seal = writeSeal({ type: 'signature', value: 'abc' }, 'openrouter#12345678')
  const called = { id: seal, type: 'function', function: { name: 'f', arguments: '{}' } }
  const carryingReasoning = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: seal, content: 'r' },
  ]
  const gates = { [GATE]: ['openrouter/cheap/model'] }
  runRows([
    {
      name: 'to other models is refused on the shared credential',
      gateway: { gates },
      request: routed,
      ...refused('models'),
    },
    {
      name: 'to other models is refused in a conversation that is written anew, too',
      gateway: { gates },
      request: {
        body: chatBody({ models: ['openai/o1-pro'], messages: carryingReasoning }),
      },
      ...refused('models'),
    },
    {
      name: 'to other models is refused to the operator’s account too',
      gateway: { gates, ...OPERATOR },
      request: routed,
      ...refused('models'),
    },
    {
      name: 'by a tool that asks another model is refused to the operator’s account too',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] }, ...OPERATOR },
      request: {
        path: '/v1/messages',
        body: chatBody({ max_tokens: 9, tools: [{ type: 'advisor_20260301', name: 'advisor' }] }),
      },
      ...refused('tools'),
    },
    {
      name: 'to indexes that the vendor’s account may read is refused to the operator’s account too',
      gateway: { gates: { [GATE]: ['azure-openai/gpt-5'] }, ...OPERATOR },
      request: { body: chatBody({ data_sources: [{ type: 'azure_search' }] }) },
      ...refused('data_sources'),
    },
    {
      name: 'to indexes that the vendor’s account may read is refused there too',
      gateway: { gates: { [GATE]: ['azure-openai/gpt-5'] } },
      request: { body: chatBody({ data_sources: [{ type: 'azure_search' }] }) },
      ...refused('data_sources'),
    },
    {
      name: 'to models that answer what the first refuses is refused there too',
      ...messages({ fallbacks: [{ model: 'claude-opus-5' }] }),
      ...refused('fallbacks'),
    },
    {
      name: 'by a tool that asks another model is refused there too',
      ...messages({
        tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5' }],
      }),
      ...refused('tools'),
    },
    {
      name: 'by such a tool whose type has an escape is refused there too',
      gateway: { gates },
      request: {
        body: `{"model":"${GATE}","messages":[],"tools":[{"type":"openrouter\\u003aadvisor"}]}`,
      },
      ...refused('tools'),
    },
    ...[
      '{"type":"openrouter:advisor","type":"function"}',
      '{"type" :\n "openrouter:advisor","type":"function"}',
      '{"type":"openrouter:advisor","type":"openrouter:advisor"},{"type":"function"}',
      '{"type":"openrouter\\u003aadvisor","type":"function"}',
    ].map((tool) => ({
      name: `by such a tool whose type is there twice is refused there too: ${tool}`,
      gateway: { gates },
      request: { body: `{"model":"${GATE}","messages":[],"tools":[${tool}]}` },
      ...refused('tools'),
    })),
    {
      name: 'passes where a function of the caller’s own has its name',
      ...messages({ tools: [{ name: 'advisor_20260301', input_schema: { type: 'object' } }] }),
      upstream: [json(200, { type: 'message', content: [] })],
      seen: { status: 200 },
      sent: [{}],
      settled: {},
    },
    {
      name: 'passes where it is nothing',
      gateway: { gates },
      request: { body: chatBody({ models: null }) },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: {},
    },
    {
      name: 'passes with the account’s own key',
      gateway: { gates, credentials: { openrouter: 'account' } },
      request: routed,
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ json: { models: ['openai/o1-pro'] } }],
      settled: { credential: 'own' },
    },
    {
      name: 'goes to the target that makes nothing of it',
      gateway: { gates: { [GATE]: ['openrouter/cheap/model', TARGET] } },
      request: routed,
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': TARGET } },
      sent: [{}],
      settled: { target: TARGET, attempts: 1 },
    },
  ])
})

describe('with the account’s own key', () => {
  runRows([
    {
      name: 'they pass',
      gateway: { gates: { [GATE]: [TARGET] }, credentials: { openai: 'account' } },
      request: withFile,
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ json: { messages: [file] } }],
      settled: { credential: 'own' },
    },
    {
      name: 'they pass there alone',
      gateway: { gates: { [GATE]: ['groq/first', TARGET] }, credentials: { openai: 'account' } },
      request: withFile,
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': TARGET } },
      sent: [{}],
      settled: { target: TARGET, attempts: 1 },
    },
  ])
})

describe('an idempotency key', () => {
  async function sentWith(owner: 'account' | 'platform'): Promise<string | undefined> {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [CHAT_ANSWER],
      ...(owner === 'account' ? { credentials: { openai: owner } } : {}),
    })
    await gateway.ask({ path: CHAT, body: chatBody(), headers: { 'idempotency-key': 'order-1' } })
    return gateway.upstream.sent[0]?.headers['idempotency-key']
  }

  test('is hashed for its account on the shared credential, and always alike', async () => {
    const sent = await sentWith('platform')
    expect(sent).toMatch(/^[0-9a-f]{64}$/)
    expect(await sentWith('platform')).toBe(sent as string)
    expect(sent).not.toContain(CALLER.accountId)
  })

  test('is unchanged on the account’s own credential', async () =>
    expect(await sentWith('account')).toBe('order-1'))
})

describe('an address of a vendor’s own files', () => {
  const FILE = 'generativelanguage.googleapis.com/v1beta/files/abc'
  const picture = (url: string) => ({ type: 'image_url', image_url: { url } })
  const asking = (...content: object[]) => ({
    gateway: { gates: { [GATE]: ['gemini/gemini-3-pro'] } },
    request: { body: chatBody({ messages: [{ role: 'user', content }] }) },
  })
  const ANSWER = json(200, {
    candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  })
  const sent = { upstream: [ANSWER], seen: { status: 200 }, sent: [{}] }
  const isSent = { ...sent, settled: { outcome: 'succeeded' as const } }
  const isRefused = {
    seen: { status: 400, contains: ['refers to the provider', 'your own key'] },
    settled: { outcome: 'failed' as const, status: 400 },
  }
  runRows([
    ...[
      `https://${FILE}`,
      `HTTPS://${FILE.replace('g', 'G')}`,
      `https://%67${FILE.slice(1)}`,
      `https://a@${FILE.replace('.com', '.com.:443')}`,
      `https://${FILE.replace('language', 'language.mtls')}`,
      `https://${FILE.replace('.com', '.com:99999')}`,
    ].map((url) => ({
      name: `is refused on the shared credential: ${url}`,
      ...asking(picture(url)),
      ...isRefused,
    })),
    {
      name: 'is refused in the result of a tool',
      gateway: { gates: { [GATE]: ['gemini/gemini-3-pro'] } },
      request: {
        path: '/v1/messages',
        body: chatBody({
          max_tokens: 9,
          messages: [
            { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
            {
              role: 'user',
              content: [
                {
                  type: 'tool_result',
                  tool_use_id: 't',
                  content: [{ type: 'image', source: { type: 'url', url: `https://${FILE}` } }],
                },
              ],
            },
          ],
        }),
      },
      ...isRefused,
    },
    {
      name: 'is sent for the operator’s account',
      ...asking(picture(`https://${FILE}`)),
      gateway: { gates: { [GATE]: ['gemini/gemini-3-pro'] }, ...OPERATOR },
      ...isSent,
    },
    {
      name: 'is sent with the account’s own key',
      ...asking(picture(`https://${FILE}`)),
      gateway: {
        gates: { [GATE]: ['gemini/gemini-3-pro'] },
        credentials: { gemini: 'account' },
      },
      ...isSent,
    },
    {
      name: 'is sent where it is text',
      ...asking({ type: 'text', text: `https://${FILE}` }),
      ...isSent,
    },
    {
      name: 'is not the address of another server that names it',
      ...asking(picture(`https://example.com/${FILE}`)),
      ...isSent,
    },
  ])
})
