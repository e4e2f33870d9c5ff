/**
 * Stage 4: from a gate's name to its targets and their requests, and the refusals before any
 * request.
 */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import type { OwnedModel } from '../../src/core/owned-model.ts'
import { Secret } from '../../src/core/secret.ts'
import { toOwnedUpstream } from '../../src/gateway/plan/owned-upstream.ts'
import type { OwnedUpstream } from '../../src/gateway/ports.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { MESSAGES_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { CALLER, InProcessGateway } from '../support/in-process-gateway.ts'
import { json, UNREACHABLE } from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  chatBody,
  GATE,
  runRow,
  runRows,
  TARGET,
} from '../support/stage-rows.ts'

const OTHER = 'groq/other'
const CLAUDE = 'anthropic/claude-opus-5'
const refused = (status: number, error: object) => ({
  seen: { status, json: { error }, headers: { 'x-gatehouse-target': null } },
})
const unasked = {
  outcome: 'failed',
  attempts: 0,
  target: null,
  credential: null,
  usage: null,
} as const

describe('features that only a provider can store or run', () => {
  const CLAUDE = 'anthropic/claude-opus-5'
  const ask = (members: object) => ({
    path: '/v1/messages',
    body: { model: GATE, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...members },
  })
  const ANSWER = json(200, MESSAGES_JSON)
  const noThread = {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: expect.stringContaining("'thread'"),
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  }
  const own = { anthropic: 'account', gemini: 'account' } as const
  const refusedHere = {
    outcome: 'failed',
    attempts: 0,
    status: 400,
    errorKind: 'invalid_request',
  } as const
  const thread = { thread: { type: 'continue', previous_message_id: 'msg_1' } }

  runRows([
    ...(
      [
        ['on the platform’s key', [CLAUDE], {}, thread],
        [
          'through a gate with two targets',
          [CLAUDE, 'anthropic/claude-haiku-5'],
          own,
          { thread: {} },
        ],
        ['where one of two could keep it', ['gemini/gemini-3-pro', CLAUDE], own, thread],
        ['at a target of another format', ['gemini/gemini-3-pro'], own, thread],
        ['at the same model elsewhere', ['vertex-anthropic/claude-opus-5'], own, thread],
      ] as const
    ).map(([name, targets, credentials, members]) => ({
      name: `a thread is not stored ${name}: the SDK gets an error after which it goes on`,
      gateway: { gates: { [GATE]: targets }, credentials },
      request: ask(members),
      seen: { status: 400, json: noThread },
      settled: refusedHere,
    })),
    {
      name: 'a thread passes on the account’s own key through a gate with one target',
      gateway: { gates: { [GATE]: [CLAUDE] }, credentials: own },
      request: ask(thread),
      upstream: [ANSWER],
      seen: { status: 200 },
      sent: [{ json: thread }],
      settled: { outcome: 'succeeded', credential: 'own' },
    },
    {
      name: 'a thread that is null counts as absent',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: ask({ thread: null }),
      upstream: [ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
    ...[
      { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] },
      { container: { skills: [] } },
    ].flatMap((members) => {
      const [name = ''] = Object.keys(members)
      return [
        {
          name: `${name} is a 400 with the remedy if no target has it`,
          gateway: { gates: { [GATE]: ['gemini/gemini-3-pro', 'groq/llama-4'] } },
          request: ask(members),
          seen: {
            status: 400,
            json: {
              error: {
                type: 'invalid_request_error',
                message: `No target of the gate '${GATE}' has '${name}', which needs the provider to store or run something: omit '${name}', or name a gate with a target that supports it.`,
              },
            },
          },
          settled: refusedHere,
        },
        {
          name: `${name} goes to the target that has it, at any place in the gate`,
          gateway: { gates: { [GATE]: ['gemini/gemini-3-pro', CLAUDE] } },
          request: ask(members),
          upstream: [ANSWER],
          seen: { status: 200, headers: { 'x-gatehouse-target': CLAUDE } },
          sent: [{ json: members }],
          settled: { outcome: 'succeeded' as const, target: CLAUDE, attempts: 1 },
        },
      ]
    }),
  ])
})

describe('refused without an attempt', () => {
  runRows([
    {
      name: 'an unknown gate',
      request: { body: chatBody({ model: 'nobody' }) },
      ...refused(404, {
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining("'nobody'"),
      }),
      settled: {
        ...unasked,
        status: 404,
        errorKind: 'gate_not_found',
        gateId: '(unknown)' as never,
        sentGateId: 'nobody',
      },
    },
    {
      name: 'a gate of another case: names are exact, and the nearest one is suggested',
      request: { body: chatBody({ model: GATE.toUpperCase() }) },
      ...refused(404, {
        code: 'model_not_found',
        message: `There is no gate '${GATE.toUpperCase()}' in this account. Did you mean '${GATE}'? List the gates with GET /v1/models.`,
      }),
      settled: { ...unasked, status: 404 },
    },
    {
      name: 'an unknown name is repeated whole up to 64 characters',
      request: { body: chatBody({ model: 'x'.repeat(64) }) },
      ...refused(404, { message: expect.stringContaining(`'${'x'.repeat(64)}'`) }),
      settled: unasked,
    },
    {
      name: 'a long unknown name is repeated in part',
      request: { body: chatBody({ gate_id: 'x'.repeat(500), model: 'y' }) },
      ...refused(404, {
        param: 'gate_id',
        message: expect.stringContaining(`'${'x'.repeat(64)}…'`),
      }),
      settled: { ...unasked, gateId: '(unknown)' as never },
    },
    {
      name: 'a gate without a credential for its providers',
      gateway: {
        gates: { [GATE]: [TARGET, OTHER] },
        credentials: { openai: 'none', groq: 'none' },
      },
      ...refused(502, {
        code: 'provider_auth_failed',
        message:
          'No credential is configured for OpenAI or Groq: the operator has to set OPENAI_API_KEY ' +
          'or GROQ_API_KEY, or the account a key of its own (PUT /v1/provider-keys/openai).',
      }),
      settled: {
        ...unasked,
        status: 502,
        errorKind: 'provider_auth_failed',
        gateId: GATE as never,
      },
    },
    {
      name: 'a gate with an unknown provider',
      gateway: { gates: { [GATE]: ['nobody/model'] } },
      ...refused(502, {
        code: 'provider_not_configured',
        message: expect.stringContaining('nobody'),
      }),
      settled: { ...unasked, status: 502, errorKind: 'provider_auth_failed' },
    },
    {
      name: 'a gate with targets of another dialect that is not translated',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'x' } },
      ...refused(400, {
        code: 'provider_mismatch',
        param: 'model',
        message: expect.stringContaining(
          'Cross-provider routing is done through /v1/chat/completions.',
        ),
      }),
      settled: { ...unasked, status: 400, errorKind: 'invalid_request' },
    },
    {
      name: 'a gate of another dialect, to a client with no other: the error names the needed gate',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'x' } },
      ...refused(400, {
        message: expect.stringMatching(
          /needs a gate with a target that speaks this format \((?:[a-z-]+, )*openai(?:, [a-z-]+)*\), or with an owned model/,
        ),
      }),
      settled: { ...unasked, status: 400 },
    },
    {
      name: 'a gate with an unreadable credential alone: the error says why',
      gateway: {
        credentials: { openai: new GatewayError('provider_auth_failed', 'It cannot be opened.') },
      },
      ...refused(502, { code: 'provider_auth_failed', message: 'It cannot be opened.' }),
      settled: { ...unasked, status: 502, errorKind: 'provider_auth_failed' },
    },
  ])
})

describe('a known provider without an address', () => {
  const calling = (target: string, path: string) => ({
    gateway: {
      gates: { [GATE]: [target] },
      withoutAddress: [
        'azure-openai',
        'ollama',
        'vllm',
        'lmstudio',
        'llamacpp',
        'vertex',
        'vertex-anthropic',
      ],
    },
    request: { path, body: path === '/v1/responses' ? { model: GATE, input: 'x' } : chatBody() },
  })
  const mismatch = (target: string, path: string) => ({
    ...calling(target, path),
    ...refused(400, {
      code: 'provider_mismatch',
      param: 'model',
      message: expect.stringContaining(target),
    }),
    settled: { ...unasked, status: 400, errorKind: 'invalid_request' as const },
  })
  const unconfigured = (target: string, path: string, variable: string) => ({
    ...calling(target, path),
    ...refused(502, {
      code: 'provider_not_configured',
      message: `No address is configured for ${target.slice(0, target.indexOf('/'))}: the operator has to set ${variable}.`,
    }),
    settled: { ...unasked, status: 502, errorKind: 'provider_auth_failed' as const },
  })
  runRows([
    ...[
      'ollama/llama3',
      'vllm/llama3',
      'lmstudio/llama3',
      'llamacpp/llama3',
      'vertex/gemini-3',
      'vertex-anthropic/claude',
    ].map((target) => ({
      name: `${target} does not match a Responses call`,
      ...mismatch(target, '/v1/responses'),
    })),
    {
      name: 'which a Responses call does match lacks its address',
      ...unconfigured('azure-openai/gpt-5', '/v1/responses', 'AZURE_OPENAI_BASE_URL'),
    },
    ...[
      ['ollama/llama3', 'OLLAMA_BASE_URL'],
      ['vllm/llama3', 'VLLM_BASE_URL'],
      ['llamacpp/llama3', 'LLAMACPP_BASE_URL'],
    ].map(([target = '', variable = '']) => ({
      name: `a chat call to ${target} is refused with the variable of its address`,
      ...unconfigured(target, CHAT, variable),
    })),
    {
      name: 'which a chat call reaches by translation lacks its address',
      ...unconfigured('vertex-anthropic/claude', CHAT, 'VERTEX_PROJECT'),
    },
  ])

  test('Responses calls go to OpenAI, Azure and the sandbox alone, among known providers', () => {
    const speaking = catalog.filter(({ endpoints }) => endpoints['openai-responses'] !== undefined)
    expect(speaking.map(({ id }) => id)).toEqual(['azure-openai', 'openai', 'sandbox'])
  })
})

describe('x-gatehouse-strict', () => {
  const strictly = (word: string, target = CLAUDE) => ({
    gateway: { gates: { [GATE]: [target] } },
    request: { headers: { 'x-gatehouse-strict': word }, body: chatBody({ seed: 1 }) },
  })
  runRows([
    ...['true', '1', 'yes', 'on', 'TRUE', 'Yes', 'oN'].map((word) => ({
      name: `${word} forbids leaving anything out`,
      ...strictly(word),
      ...refused(400, { code: 'unsupported_parameter', param: 'seed' }),
      settled: { status: 400, errorKind: 'invalid_request' as const },
    })),
    ...['false', '0', 'no', 'off', 'False'].map((word) => ({
      name: `${word} lets it be left out`,
      ...strictly(word),
      upstream: [json(200, MESSAGES_JSON)],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': 'seed' } },
      sent: [{}],
      settled: { outcome: 'succeeded' as const },
    })),
    ...['strict', 'ja', '2', '', 'true, true'].flatMap((word) =>
      [CLAUDE, TARGET].map((target) => ({
        name: `${JSON.stringify(word)} is unknown, and refused before ${target} is tried`,
        ...strictly(word, target),
        ...refused(400, { code: 'invalid_value', param: 'x-gatehouse-strict' }),
        settled: null,
      })),
    ),
  ])
})

describe('a model beside the gate', () => {
  const gate = (overrides: 'ignore' | 'reject' | 'allow') => ({
    gates: { [GATE]: { targets: [{ model: TARGET }, { model: OTHER }], overrides } },
  })
  const body = (model: string) => chatBody({ gate_id: GATE, model })
  const answered = (target: string, ignored: string | null) => ({
    seen: {
      status: 200,
      headers: {
        'x-gatehouse-target': target,
        'x-gatehouse-ignored': ignored,
        'x-gatehouse-attempts': '1',
      },
    },
    settled: { outcome: 'succeeded' as const, target, gateId: GATE as never },
  })
  const invalid = (code: string) => ({
    ...refused(400, { code, param: 'model' }),
    settled: { ...unasked, status: 400, errorKind: 'invalid_request' as const },
  })
  runRows([
    {
      name: 'is ignored, and named',
      gateway: gate('ignore'),
      request: { body: body(OTHER) },
      upstream: [CHAT_ANSWER],
      sent: [{ json: { model: 'gpt-4o' } }],
      ...answered(TARGET, 'model'),
      check: ({ upstream }) => expect(upstream.sent[0]?.body).not.toContain('gate_id'),
    },
    {
      name: 'that equals the gate’s own name has no effect',
      gateway: gate('reject'),
      request: { body: body(GATE) },
      upstream: [CHAT_ANSWER],
      sent: [{ json: { model: 'gpt-4o' } }],
      ...answered(TARGET, null),
    },
    {
      name: 'is refused',
      gateway: gate('reject'),
      request: { body: body(OTHER) },
      ...invalid('overrides_rejected'),
    },
    {
      name: 'is tried first, and the gate’s own follow',
      gateway: gate('allow'),
      request: { body: body('xai/grok') },
      upstream: [UNREACHABLE, UNREACHABLE, CHAT_ANSWER],
      seen: {
        status: 200,
        headers: {
          'x-gatehouse-target': OTHER,
          'x-gatehouse-ignored': null,
          'x-gatehouse-attempts': '3',
        },
      },
      sent: [
        { json: { model: 'grok' } },
        { json: { model: 'gpt-4o' } },
        { json: { model: 'other' } },
      ],
      settled: { outcome: 'succeeded', target: OTHER, attempts: 3 },
    },
    {
      name: 'that is one of the gate’s own is tried once',
      gateway: gate('allow'),
      request: { body: body(OTHER) },
      upstream: [UNREACHABLE, UNREACHABLE],
      seen: { status: 502, headers: { 'x-gatehouse-target': null } },
      sent: [{ json: { model: 'other' } }, { json: { model: 'gpt-4o' } }],
      settled: { outcome: 'failed', attempts: 2, target: TARGET },
    },
    {
      name: 'without a credential is skipped, and named',
      gateway: { ...gate('allow'), credentials: { xai: 'none' } },
      request: { body: body('xai/grok') },
      upstream: [CHAT_ANSWER],
      sent: [{ json: { model: 'gpt-4o' } }],
      ...answered(TARGET, 'model'),
    },
    {
      name: 'of an unknown provider is refused',
      gateway: gate('allow'),
      request: { body: body('nobody/x') },
      ...invalid('invalid_value'),
    },
    {
      name: 'that is malformed is refused',
      gateway: gate('allow'),
      request: { body: body('gpt-4o') },
      ...invalid('invalid_value'),
    },
    {
      name: 'that is too long is refused',
      gateway: gate('allow'),
      request: { body: body(`xai/${'x'.repeat(200)}`) },
      ...invalid('invalid_value'),
    },
    {
      name: 'that does not speak the endpoint’s dialect is refused',
      gateway: {
        gates: { [GATE]: { targets: [{ model: 'mistral/codestral' }], overrides: 'allow' } },
      },
      request: {
        path: '/alt/v1/fim/completions',
        body: { gate_id: GATE, model: 'openai/gpt-4o', prompt: 'x' },
      },
      seen: { status: 400, json: { error: 'invalid_request', details: { field: 'model' } } },
      settled: { ...unasked, status: 400 },
    },
  ])
})

describe('a gate’s setting for its callers', () => {
  const gate = (overrides: 'ignore' | 'reject' | 'allow') => ({
    gates: {
      [GATE]: {
        targets: [{ model: TARGET }],
        overrides,
        defaults: { temperature: 0.25, instructions: 'Be kind.' },
      },
    },
  })
  const asked = { upstream: [CHAT_ANSWER], settled: { outcome: 'succeeded' as const } }
  runRows([
    {
      name: 'is written into the request',
      gateway: gate('ignore'),
      ...asked,
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null } },
      sent: [
        { json: { temperature: 0.25, messages: [{ content: 'Be kind.' }, { content: 'hi' }] } },
      ],
    },
    {
      name: 'overrides the caller’s, which is named',
      gateway: gate('ignore'),
      request: { body: chatBody({ temperature: 1 }) },
      ...asked,
      seen: { status: 200, headers: { 'x-gatehouse-ignored': 'temperature' } },
      sent: [{ json: { temperature: 0.25 } }],
    },
    {
      name: 'gives way if the gate lets its callers',
      gateway: gate('allow'),
      request: { body: chatBody({ temperature: 1 }) },
      ...asked,
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null } },
      sent: [{ json: { temperature: 1 } }],
    },
    {
      name: 'refuses another value if the gate does not let its callers',
      gateway: gate('reject'),
      request: { body: chatBody({ temperature: 1 }) },
      ...refused(400, { code: 'overrides_rejected', param: 'temperature' }),
      settled: { ...unasked, status: 400, errorKind: 'invalid_request' },
    },
  ])
})

describe('an owned model', () => {
  const owned = (credential: boolean, members: Partial<OwnedModel> = {}): OwnedUpstream =>
    toOwnedUpstream(
      {
        accountId: CALLER.accountId,
        slug: 'mine',
        displayName: 'Mine',
        dialect: 'openai-chat',
        baseUrl: 'https://models.example/v1',
        upstreamModelId: 'llama-7b',
        pricingInput: 0,
        pricingOutput: 0,
        pricingCachedInput: 0,
        ...members,
      } as OwnedModel,
      credential ? { secret: new Secret('planted-owned'), owner: 'account' } : undefined,
    )
  const gateway = { gates: { [GATE]: ['owned/mine'] }, ownedModels: [owned(true)] }

  test('gets calls at its own address, with its own credential, and counts for no quota', () =>
    runRow({
      gateway,
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': 'owned/mine' } },
      sent: [
        {
          url: 'https://models.example/v1/chat/completions',
          headers: { authorization: 'Bearer planted-owned' },
          json: { model: 'llama-7b' },
        },
      ],
      settled: { target: 'owned/mine', credential: 'own' },
      spent: { countsForQuota: false },
      check: ({ limits }) => expect(limits.tickets[0]?.reservations).toBe(0),
    }))

  test('that is changed or deleted is so in the next call through an unchanged gate', async () => {
    const models = [owned(true)]
    const gates = gateway.gates
    const scene = new InProcessGateway({
      gates,
      ownedModels: models,
      upstream: Array(4).fill(CHAT_ANSWER),
    })
    const ask = () => scene.ask({ path: CHAT, body: chatBody() })
    for (const change of [
      {},
      {},
      { upstreamModelId: 'llama-8b' },
      { baseUrl: 'https://new.example' },
    ]) {
      if (Object.keys(change).length > 0) models.splice(0, 1, owned(true, change))
      expect((await ask()).status).toBe(200)
    }
    expect(scene.upstream.sent.map(({ url, body }) => [url, JSON.parse(body).model])).toEqual([
      ['https://models.example/v1/chat/completions', 'llama-7b'],
      ['https://models.example/v1/chat/completions', 'llama-7b'],
      ['https://models.example/v1/chat/completions', 'llama-8b'],
      ['https://new.example/chat/completions', 'llama-7b'],
    ])
    models.splice(0, 1)
    expect((await ask()).status).toBe(400)
    models.push(owned(false))
    expect((await ask()).status).toBe(502)
    await scene.assertNothingIsLeft()
  })

  runRows([
    {
      name: 'that is not registered is not a target',
      gateway: { gates: gateway.gates },
      ...refused(400, { code: 'provider_mismatch' }),
      settled: { ...unasked, status: 400 },
    },
    {
      name: 'with an unreadable credential is not called with another',
      gateway: { ...gateway, ownedModels: [owned(false)] },
      ...refused(502, {
        code: 'provider_auth_failed',
        message: expect.stringContaining('The stored credential of owned/mine cannot be decrypted'),
      }),
      settled: { ...unasked, status: 502 },
    },
  ])
})

describe('a gate’s word on effort goes to a model', () => {
  const named = (upstreamModelId: string, dialect: OwnedModel['dialect']) => [
    toOwnedUpstream(
      {
        ...{
          accountId: CALLER.accountId,
          slug: 'mine',
          dialect,
          baseUrl: 'https://models.example/v1',
        },
        upstreamModelId,
      } as OwnedModel,
      { secret: new Secret('planted-owned'), owner: 'account' },
    ),
  ]
  const chat = { path: CHAT, body: chatBody() }
  const responses = { path: '/v1/responses', body: { model: GATE, input: 'x' } }
  test.each<[string, 'goes' | 'does not', string, OwnedModel['dialect'] | undefined]>([
    ['that thinks', 'goes', 'openai/gpt-5', undefined],
    ['that does not', 'does not', 'openai/gpt-4o', undefined],
    ['of an unknown vendor', 'goes', 'groq/any', undefined],
    ['of an owned server, under a name that thinks', 'goes', 'gpt-5', 'openai-chat'],
    ['of an owned server, under an unknown name', 'goes', 'llama-7b', 'openai-chat'],
    ['of an owned Responses server, under a name that thinks', 'goes', 'gpt-5', 'openai-responses'],
    ['of an unknown owned Responses server', 'goes', 'llama-7b', 'openai-responses'],
  ])('%s: it %s', async (_, goes, model, dialect) => {
    const gate = {
      targets: [{ model: dialect === undefined ? model : 'owned/mine' }],
      defaults: { reasoningEffort: 'low' as const },
    }
    const isChat = dialect !== 'openai-responses'
    await runRow({
      gateway: {
        gates: { [GATE]: gate },
        ...(dialect === undefined ? {} : { ownedModels: named(model, dialect) }),
      },
      request: isChat ? chat : responses,
      upstream: [isChat ? CHAT_ANSWER : json(200, RESPONSES_JSON)],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
      check: ({ upstream }) => {
        const sent = JSON.parse(upstream.sent[0]?.body ?? '')
        const effort = isChat ? sent.reasoning_effort : sent.reasoning?.effort
        expect<unknown>(effort).toBe(goes === 'goes' ? 'low' : undefined)
      },
    })
  })
})

describe('the address of a model’s calls', () => {
  const gemini = 'https://gemini.test/base/models'
  const chat = 'https://openai.test/base/chat/completions'
  test.each([
    ['gemini/gemini-2.5-pro', false, `${gemini}/gemini-2.5-pro:generateContent`],
    ['gemini/gemini-2.5-pro', true, `${gemini}/gemini-2.5-pro:streamGenerateContent?alt=sse`],
    // A name may contain characters that a path may not.
    ['gemini/a/b?c d', false, `${gemini}/a%2Fb%3Fc%20d:generateContent`],
    ['openai/gpt-4o', false, chat],
    ['openai/gpt-4o', true, chat],
  ])('%s, stream %p', async (target, isStream, url) => {
    await runRow({
      gateway: { gates: { [GATE]: [target] } },
      request: { body: chatBody({ stream: isStream }) },
      upstream: [UNREACHABLE],
      seen: { status: 502 },
      sent: [{ url }],
      settled: { outcome: 'failed' },
    })
  })
})

describe('the quota of the account', () => {
  const used = new GatewayError('quota_exceeded', 'The quota is used up.')
  const two = { gates: { [GATE]: [TARGET, OTHER] } }
  const reserved =
    (times: number) =>
    ({ limits }: { limits: { tickets: readonly { reservations: number }[] } }) =>
      expect(limits.tickets[0]?.reservations).toBe(times)
  runRows([
    {
      name: 'is reserved once, whatever the number of targets',
      gateway: two,
      upstream: [UNREACHABLE, CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: { attempts: 2 },
      check: reserved(1),
    },
    {
      name: 'is not reserved if the account pays for all targets itself',
      gateway: {
        ...two,
        credentials: { openai: 'account', groq: 'account' },
        limits: { reserveQuota: () => used },
      },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { target: TARGET, credential: 'own' },
      spent: { countsForQuota: false },
      check: reserved(0),
    },
    ...[() => used, async () => used].map((reserveQuota, index) => ({
      name: `that is used up leaves the targets at the account’s own cost (${index === 0 ? 'here' : 'elsewhere'})`,
      gateway: { ...two, credentials: { groq: 'account' as const }, limits: { reserveQuota } },
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': OTHER } },
      sent: [{ json: { model: 'other' } }],
      settled: { target: OTHER, attempts: 1 },
      check: reserved(1),
    })),
    ...[() => used, async () => used].map((reserveQuota, index) => ({
      name: `that is used up refuses the call if there are none (${index === 0 ? 'here' : 'elsewhere'})`,
      gateway: { ...two, limits: { reserveQuota } },
      seen: {
        status: 429,
        json: { error: { code: 'insufficient_quota', message: 'The quota is used up.' } },
        headers: { 'x-should-retry': 'false', 'x-ratelimit-remaining-requests': '41' },
      },
      settled: {
        ...unasked,
        status: 429,
        errorKind: 'quota_exceeded' as const,
        gateId: GATE as never,
      },
      spent: { tokens: 0 },
      check: reserved(1),
    })),
    {
      name: 'is not reserved if the gateway answers itself',
      gateway: { limits: { reserveQuota: () => used } },
      request: { path: '/v1/messages/count_tokens', body: chatBody() },
      seen: { status: 200 },
      settled: { outcome: 'succeeded', attempts: 0 },
      check: reserved(0),
    },
  ])
})

test('a translated caller’s request is encoded for its target, and a relayed one keeps its bytes', async () => {
  const text = `{ "messages" : [{"role":"user","content":"caf\\u00e9"}], "model":"${GATE}", "x_odd": 1.50, "big":12345678901234567890 }`
  await runRow({
    request: { body: text },
    upstream: [CHAT_ANSWER],
    seen: { status: 200 },
    sent: [{ body: text.replace(`"${GATE}"`, '"gpt-4o"') }],
    settled: { outcome: 'succeeded' },
  })
  await runRow({
    gateway: { gates: { [GATE]: ['openai/gpt-5'] } },
    request: { path: '/v1/responses', body: `{"model":"${GATE}","input":"x"}` },
    upstream: [json(200, RESPONSES_JSON)],
    seen: { status: 200 },
    sent: [{ json: { model: 'gpt-5', store: false, include: ['reasoning.encrypted_content'] } }],
    settled: { outcome: 'succeeded' },
  })
})
