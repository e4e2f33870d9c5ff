/**
 * Ids of things in a provider's account: sent with the account's own key, and with no key that
 * accounts share.
 */
import { describe, expect, test } from 'bun:test'
import { CALLER, InProcessGateway } from '../support/in-process-gateway.ts'
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
const within = (depth: number, innermost: object): object =>
  depth === 0 ? innermost : { in: within(depth - 1, innermost) }
const refused = (member: string) => ({
  seen: { status: 400, contains: [member, 'your own key'] },
  settled: { outcome: 'failed' as const, status: 400, attempts: 0 },
})

describe('on the shared credential', () => {
  runRows([
    {
      name: 'a file is refused',
      request: withFile,
      ...refused('messages[0].content[0].file.file_id'),
    },
    {
      name: 'a vector store is refused',
      ...responses({ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }),
      ...refused('tools[0].vector_store_ids'),
    },
    {
      name: 'a container is refused',
      ...responses({ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }),
      ...refused('tools[0].container'),
    },
    {
      name: 'a file for a new container is refused',
      ...responses({
        tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }],
      }),
      ...refused('tools[0].container.file_ids'),
    },
    {
      name: 'a container of a shell is refused',
      ...responses({
        tools: [
          { type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } },
        ],
      }),
      ...refused('tools[0].environment.container_id'),
    },
    {
      name: 'a skill of a shell is refused',
      ...responses({
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
      ...refused('tools[0].environment.skills[0].skill_id'),
    },
    {
      name: 'a skill of Messages is refused',
      ...messages({ container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } }),
      ...refused('container.skills[0].skill_id'),
    },
    {
      name: 'a container of Messages is refused',
      ...messages({ container: 'c_1' }),
      ...refused('container'),
    },
    {
      name: 'one with skills too',
      ...messages({ container: { id: 'c_1' } }),
      ...refused('container'),
    },
    {
      name: 'a file is refused at any depth',
      ...responses({ input: [within(60, { file_id: 'file-abc' })] }),
      ...refused(`input[0]${'.in'.repeat(60)}.file_id`),
    },
  ])

  const spelled = (text: string) =>
    `{"model":"${GATE}","messages":[{"role":"user","content":[${text}]}]}`
  runRows([
    ...(
      [
        [
          'is spelled with an escape',
          '{"type":"file","file":{"file\\u005fid":"file-abc"}}',
          'file_id',
        ],
        [
          'is spelled with an escape behind a hundred others',
          `{"type":"text","text":"${'\\u00e9'.repeat(100)}"},{"type":"file","file":{"file\\u005fid":"file-abc"}}`,
          'file_id',
        ],
        [
          'has a letter as an escape, in capitals',
          '{"type":"file","file":{"\\u0066ile_id":"file-abc","x":"\\u00E9"}}',
          'file_id',
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
      ] as const
    ).map(([how, text, told]) => ({
      name: `a file whose member ${how} is refused`,
      request: { body: spelled(text) },
      seen: { status: 400, contains: [told] },
      settled: { outcome: 'failed' as const, status: 400, attempts: 0 },
    })),
    {
      name: 'a file is refused in a body that says it is a call',
      ...responses({ type: 'tool_use', input: [{ type: 'input_file', file_id: 'file-abc' }] }),
      ...refused('input[0].file_id'),
    },
    {
      name: 'a file is refused as deep as a body may be',
      ...responses({ input: [within(240, { file_id: 'file-abc' })] }),
      ...refused(`input[0]${'.in'.repeat(240)}.file_id`),
    },
  ])

  test.each([
    ['a new container', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    ['none', { container: null }],
    [
      'a call that ran in a container',
      {
        input: [
          {
            type: 'shell_call',
            environment: { type: 'container_reference', container_id: 'cntr_1' },
          },
          { type: 'code_interpreter_call', container_id: 'cntr_1' },
        ],
      },
    ],
    [
      'a skill that is everybody’s',
      { tools: [{ skills: [{ type: 'anthropic', skill_id: 'pptx' }] }] },
    ],
    [
      'a tool with a parameter of that name',
      {
        tools: [{ type: 'function', parameters: { properties: { file_id: { type: 'string' } } } }],
      },
    ],
    ['text that names one', { input: 'say {"file_id":"x"}' }],
    ['text that is one of the names', { input: 'file_id' }],
  ])('%s is sent', async (_, members) => {
    const answer = json(200, { object: 'response', output: [] })
    const { gateway, request } = responses(members)
    await runRow({
      name: '',
      gateway,
      request,
      upstream: [answer],
      seen: { status: 200 },
      sent: [{}],
      settled: {},
    })
  })

  test('a call with such a name in its input is sent', async () => {
    const call = { type: 'tool_use', id: 't', name: 'read', input: { file_id: 'mine' } }
    const { gateway, request } = messages({ messages: [{ role: 'assistant', content: [call] }] })
    const answer = json(200, { type: 'message', content: [] })
    await runRow({
      name: '',
      gateway,
      request,
      upstream: [answer],
      seen: { status: 200 },
      sent: [{}],
      settled: {},
    })
  })
})

describe('a member that reaches past the gate', () => {
  const routed = { body: chatBody({ models: ['openai/o1-pro'] }) }
  const gates = { [GATE]: ['openrouter/cheap/model'] }
  runRows([
    {
      name: 'to other models is refused on the shared credential',
      gateway: { gates },
      request: routed,
      ...refused('models'),
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
    seen: { status: 400, contains: ['leads into the provider', 'your own key'] },
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
