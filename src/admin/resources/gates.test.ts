import { describe, expect, test } from 'bun:test'
import { strangerKey, target, testKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, send, sendForJson } = useControlPlane()

const gate = { id: 'new', targets: [target] }
const defaulting = (defaults: object) => ({ ...gate, defaults })
const url = '/v1/gates'
const create = 'POST /v1/gates'

describe('creating a gate', () => {
  check([
    [
      'the least there is',
      create,
      { targets: [target] },
      201,
      '"id":"gate-',
      '"timeoutMs":null',
      '"maxRetries":0',
      '"defaults":{}',
      '"overrides":"ignore"',
    ],
    {
      name: 'everything there is',
      method: 'POST',
      url,
      body: {
        ...gate,
        displayName: 'Démo',
        description: 'a\nb',
        strategy: 'fallback',
        defaults: {
          instructions: 'Be brief.',
          temperature: 2,
          topP: 0,
          maxOutputTokens: 1,
          reasoningEffort: 'xhigh',
        },
        overrides: 'reject',
        timeoutMs: 3_600_000,
        maxRetries: 5,
      },
      status: 201,
      holds: [
        '"displayName":"Démo"',
        '"strategy":"fallback"',
        '"defaults":{"instructions":"Be brief.","temperature":2,"topP":0,"maxOutputTokens":1,"reasoningEffort":"xhigh"}',
        '"overrides":"reject"',
        '"createdAt":"2026-01-02T03:04:05.',
      ],
      hides: ['accountId', 'acct_'],
    },
    [
      'aliases, of which a plain string is listed',
      create,
      { ...gate, aliases: ['openai/gpt-4.1', { name: 'qwen3:8b', isListed: false }] },
      201,
      '"aliases":[{"name":"openai/gpt-4.1","isListed":true},{"name":"qwen3:8b","isListed":false}]',
    ],
    [
      'an alias that is the id of a gate',
      create,
      { ...gate, aliases: ['demo'] },
      409,
      '"details":[{"field":"aliases",',
    ],
    ...['', ' ', 'a b', 'a,b', 'a"b', "a'b", 'é', 'owned/mine', 'x'.repeat(201)].map(
      (alias) =>
        [
          `the alias ${JSON.stringify(alias.slice(0, 20))}`,
          create,
          { ...gate, aliases: ['fine', alias] },
          400,
          'aliases[1]: must be 1 to 200 printable ASCII',
        ] as const,
    ),
    ['an alias that is a number', create, { ...gate, aliases: [1] }, 400, 'aliases[0]: must be a'],
    [
      'an alias with an unknown member',
      create,
      { ...gate, aliases: [{ name: 'a', listed: true }] },
      400,
      'aliases[0].listed: is not a known field',
    ],
    [
      'an alias twice',
      create,
      { ...gate, aliases: ['a', { name: 'a' }] },
      400,
      'aliases: must not',
    ],
    [
      'more aliases than there may be',
      create,
      { ...gate, aliases: Array.from({ length: 33 }, (_, index) => `a${index}`) },
      400,
      'aliases: must have at most 32 elements',
    ],
    ['a catch-all', create, { ...gate, isCatchAll: true }, 201, '"isCatchAll":true'],
    ['an id that is taken', create, { ...gate, id: 'demo' }, 409, '"error":"conflict"'],
    [
      'an id that begins with a dot',
      create,
      { ...gate, id: '.a' },
      400,
      '"message":"id: must be 1 to 64',
    ],
    ['an id of 65 characters', create, { ...gate, id: 'a'.repeat(65) }, 400, 'id: '],
    ['an id of 64 characters', create, { ...gate, id: 'a'.repeat(64) }, 201],
    ['an id with a line break at its end', create, { ...gate, id: 'a\n' }, 400, 'id: '],
    ['an id of another type', create, { ...gate, id: 7 }, 400, 'id: must be a string'],
    ['no targets', create, { id: 'new' }, 400, 'targets: is required'],
    [
      'an empty list of targets',
      create,
      { targets: [] },
      400,
      'targets: must name at least one target',
    ],
    [
      '21 targets',
      create,
      { targets: Array(21).fill(target) },
      400,
      'targets: must have at most 20 elements',
    ],
    ['targets null', create, { targets: null }, 400, 'targets: must be an array'],
    [
      'a target that is text',
      create,
      { targets: ['openai/gpt-5'] },
      400,
      'targets[0]: must be an object',
    ],
    [
      'a model without a provider',
      create,
      { targets: [target, { model: 'gpt-5' }] },
      400,
      'targets[1].model: must be provider/model',
    ],
    [
      'a model that is only a provider',
      create,
      { targets: [{ model: 'openai/' }] },
      400,
      'targets[0].model: ',
    ],
    ['a model that is empty', create, { targets: [{ model: '' }] }, 400, 'targets[0].model: '],
    [
      'a model of 201 characters',
      create,
      { targets: [{ model: `openai/${'x'.repeat(194)}` }] },
      400,
      'targets[0].model: must have at most 200 characters',
    ],
    [
      'a model with slashes in its name',
      create,
      { targets: [{ model: 'openai/org/model:free' }] },
      201,
    ],
    [
      'a model with a space',
      create,
      { targets: [{ model: 'openai/gpt 5' }] },
      400,
      'targets[0].model: ',
    ],
    [
      'a provider that is not known',
      create,
      { targets: [{ model: 'opnai/gpt-5' }] },
      400,
      "names the provider 'opnai', which is not known. Did you mean 'openai'? The known providers are mistral, openai, owned",
    ],
    [
      'a provider named like a built-in property',
      create,
      { targets: [{ model: 'constructor/x' }] },
      400,
      'targets[0].model: ',
    ],
    ['a target without its model', create, { targets: [{}] }, 400, 'targets[0].model: is required'],
    [
      'weights, of which all are 0',
      create,
      { targets: [{ ...target, weight: 0 }] },
      400,
      'targets: must hold at least one target whose weight is not 0',
    ],
    [
      'a weight that is not a whole number',
      create,
      { targets: [{ ...target, weight: 0.5 }] },
      400,
      'targets[0].weight',
    ],
    [
      'a weight below zero',
      create,
      { targets: [{ ...target, weight: -1 }] },
      400,
      'targets[0].weight',
    ],
    ['an invalid strategy', create, { ...gate, strategy: 'random' }, 400, 'strategy: ', 'weighted'],
    [
      'a hedge after 0 ms',
      create,
      { ...gate, hedgeAfterMs: 0 },
      400,
      'hedgeAfterMs: must be at least 1',
    ],
    ['strategy null', create, { ...gate, strategy: null }, 400, 'strategy: '],
    [
      'a temperature of 2.1',
      create,
      defaulting({ temperature: 2.1 }),
      400,
      'defaults.temperature: must be at most 2',
    ],
    [
      'a temperature as text',
      create,
      defaulting({ temperature: '1' }),
      400,
      'defaults.temperature: must be a number',
    ],
    ['a topP of 1.1', create, defaulting({ topP: 1.1 }), 400, 'defaults.topP: must be at most 1'],
    [
      'a limit of 0',
      create,
      defaulting({ maxOutputTokens: 0 }),
      400,
      'defaults.maxOutputTokens: must be at least 1',
    ],
    [
      'half a token',
      create,
      defaulting({ maxOutputTokens: 1.5 }),
      400,
      'defaults.maxOutputTokens: must be a whole',
    ],
    [
      'an invalid effort',
      create,
      defaulting({ reasoningEffort: 'huge' }),
      400,
      'defaults.reasoningEffort: ',
      'xhigh',
    ],
    [
      'empty instructions',
      create,
      defaulting({ instructions: '' }),
      400,
      'defaults.instructions: ',
    ],
    [
      'instructions of 100,000 characters',
      create,
      defaulting({ instructions: 'x'.repeat(100_000) }),
      201,
    ],
    [
      'one character more',
      create,
      defaulting({ instructions: 'x'.repeat(100_001) }),
      400,
      'defaults.instructions: ',
    ],
    [
      'a default that is unknown',
      create,
      defaulting({ top_p: 1 }),
      400,
      'defaults.top_p: is not a known field',
    ],
    ['defaults null', create, { ...gate, defaults: null }, 400, 'defaults: must be an object'],
    ['overrides that are none', create, { ...gate, overrides: 'maybe' }, 400, 'overrides: '],
    ['a timeout of 0', create, { ...gate, timeoutMs: 0 }, 400, 'timeoutMs: must be at least 1'],
    [
      'a timeout of more than an hour',
      create,
      { ...gate, timeoutMs: 3_600_001 },
      400,
      'timeoutMs: must be at most 3600000',
    ],
    [
      'a timeout with a fraction',
      create,
      { ...gate, timeoutMs: 1.5 },
      400,
      'timeoutMs: must be a whole number',
    ],
    ['a timeout as text', create, { ...gate, timeoutMs: '5' }, 400, 'timeoutMs: must be a number'],
    ['six retries', create, { ...gate, maxRetries: 6 }, 400, 'maxRetries: must be at most 5'],
    [
      'retries below zero',
      create,
      { ...gate, maxRetries: -1 },
      400,
      'maxRetries: must be at least 0',
    ],
    ['retries null', create, { ...gate, maxRetries: null }, 400, 'maxRetries: must be a number'],
    [
      'a number too large for JavaScript',
      create,
      '{"targets":[{"model":"openai/x"}],"maxRetries":1e999}',
      400,
      'maxRetries: ',
    ],
    [
      'an empty displayName',
      create,
      { ...gate, displayName: '' },
      400,
      'displayName: must have at least 1 character"',
    ],
    [
      'a displayName of 121 characters',
      create,
      { ...gate, displayName: 'x'.repeat(121) },
      400,
      'displayName: ',
    ],
    [
      'a NUL in the displayName',
      create,
      '{"targets":[{"model":"openai/x"}],"displayName":"a\\u0000"}',
      400,
      'displayName: must not hold control',
    ],
    [
      'half a surrogate pair',
      create,
      '{"targets":[{"model":"openai/x"}],"description":"\\ud800"}',
      400,
      'description: must not hold',
    ],
    ['an unknown field', create, { ...gate, color: 1 }, 400, 'color: is not a known field'],
    [
      'a field of another case',
      create,
      { ...gate, DisplayName: 'x' },
      400,
      'DisplayName: is not a known field',
    ],
    ['a snake_case field', create, { ...gate, display_name: 'x' }, 400, 'display_name: '],
    [
      'an account',
      create,
      { ...gate, accountId: 'acct_other' },
      400,
      'accountId: is not a known field',
    ],
    [
      'createdAt',
      create,
      { ...gate, createdAt: '2020-01-01T00:00:00Z' },
      400,
      'createdAt: is set by the gateway',
    ],
    [
      '__proto__ in the body',
      create,
      '{"targets":[{"model":"openai/x"}],"__proto__":{"id":"x"}}',
      400,
      '__proto__: is not a known field',
    ],
    [
      'constructor in the body',
      create,
      '{"targets":[{"model":"openai/x"}],"constructor":1}',
      400,
      'constructor: is not a known field',
    ],
    [
      'several problems at once',
      create,
      { id: '', x: 1, maxRetries: 9 },
      400,
      '(and 3 more)',
      '"details":[{"field":"id"',
      '"field":"targets","message":"is required"',
      '"field":"x"',
    ],
    [
      'a key as a field name',
      create,
      { ...gate, [testKey]: 1 },
      400,
      'sk-svc-…: is not a known field',
    ],
  ])

  test('the pattern of ids is the one that the rest of the gateway uses', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    expect(JSON.stringify(document)).toContain(JSON.stringify('^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'))
  })
})

describe('changing, showing and deleting a gate', () => {
  const demo = '/v1/gates/demo'
  check([
    [
      'one field',
      'PATCH /v1/gates/demo',
      { displayName: 'New' },
      200,
      '"displayName":"New"',
      '"timeoutMs":1000',
      '"maxRetries":1',
    ],
    [
      'nothing',
      'PATCH /v1/gates/demo',
      {},
      200,
      '"timeoutMs":1000',
      '"maxRetries":1',
      '"description":""',
    ],
    ['the timeout away', 'PATCH /v1/gates/demo', { timeoutMs: null }, 200, '"timeoutMs":null'],
    [
      'overrides',
      'PATCH /v1/gates/demo',
      { overrides: 'allow' },
      200,
      '"overrides":"allow"',
      '"defaults":{}',
    ],
    ['defaults', 'PATCH /v1/gates/demo', { defaults: { topP: 1 } }, 200, '"defaults":{"topP":1}'],
    ['the id', 'PATCH /v1/gates/demo', { id: 'demo' }, 400, 'id: cannot be changed'],
    ['createdAt', 'PATCH /v1/gates/demo', { createdAt: null }, 400, 'createdAt: cannot be changed'],
    ['targets to none', 'PATCH /v1/gates/demo', { targets: [] }, 400, 'targets: '],
    [
      'to an unknown provider',
      'PATCH /v1/gates/demo',
      { targets: [target, { model: 'nope/x' }] },
      400,
      'targets[1].model: ',
    ],
    [
      'to another strategy, with a hedge',
      'PATCH /v1/gates/demo',
      { strategy: 'weighted', hedgeAfterMs: 300 },
      200,
      '"strategy":"weighted"',
      '"hedgeAfterMs":300',
    ],
    [
      'description to null',
      'PATCH /v1/gates/demo',
      { description: null },
      400,
      'description: must be a string',
    ],
    [
      'one that is not there',
      'PATCH /v1/gates/nope',
      { displayName: 'x' },
      404,
      '"error":"gate_not_found"',
    ],
    {
      name: "a stranger's attempt",
      method: 'PATCH',
      url: demo,
      body: {},
      headers: { authorization: `Bearer ${strangerKey}` },
      status: 404,
    },
    ['shown', 'GET /v1/gates/demo', undefined, 200, '"id":"demo"'],
    ['shown by its encoded id', 'GET /v1/gates/d%65mo', undefined, 200, '"id":"demo"'],
    {
      name: 'shown to a stranger',
      method: 'GET',
      url: demo,
      headers: { authorization: `Bearer ${strangerKey}` },
      status: 404,
    },
    ['shown in another case', 'GET /v1/gates/Demo', undefined, 404],
    ['__proto__ shown', 'GET /v1/gates/__proto__', undefined, 404],
    ['constructor shown', 'GET /v1/gates/constructor', undefined, 404],
    ['a broken escape shown', 'GET /v1/gates/%E0%A4%A', undefined, 404],
    [
      'a misspelt id shown',
      'GET /v1/gates/dmeo',
      undefined,
      404,
      "There is no gate 'dmeo' in this account. Did you mean 'demo'? List the gates with GET /v1/gates.",
    ],
    ['an encoded slash shown', 'GET /v1/gates/a%2Fb', undefined, 404, 'gate_not_found'],
    ['a NUL shown', 'GET /v1/gates/%00', undefined, 404],
    ['a key shown', `GET /v1/gates/${testKey}`, undefined, 404, 'There is no gate with this id.'],
    ['deleted', 'DELETE /v1/gates/demo', undefined, 204],
    {
      name: 'deleted by a stranger',
      method: 'DELETE',
      url: demo,
      headers: { authorization: `Bearer ${strangerKey}` },
      status: 404,
    },
    ['deleted though not there', 'DELETE /v1/gates/nope', undefined, 404, 'gate_not_found'],
  ])

  test('new defaults replace the old ones together, and {} removes them', async () => {
    const patch = (body: object) => sendForJson({ method: 'PATCH', url: demo, body })
    await patch({ defaults: { temperature: 1, topP: 1 } })
    expect((await patch({ displayName: 'x' })).defaults).toEqual({ temperature: 1, topP: 1 })
    expect((await patch({ defaults: { topP: 0.5 } })).defaults).toEqual({ topP: 0.5 })
    expect((await patch({ defaults: {} })).defaults).toEqual({})
  })

  test('a deleted gate is gone, and its id free', async () => {
    await send({ method: 'DELETE', url: demo })
    expect((await send({ url: demo })).status).toBe(404)
    expect((await send({ method: 'POST', url, body: { ...gate, id: 'demo' } })).status).toBe(201)
  })
})

describe('testing a gate', () => {
  const path = 'POST /v1/gates/demo/test'
  check([
    [
      'without a body',
      path,
      undefined,
      200,
      '{"gateId":"demo","results":[{"target":"openai/gpt-5","status":"ok"',
    ],
    ['with an empty object', path, {}, 200, '"latencyMs":3'],
    ['with something to say', path, { target: 'x' }, 400, 'target: is not a known field'],
    ['with an invalid body', path, '[', 400, 'not a valid JSON object'],
    [
      'one that is not there',
      'POST /v1/gates/nope/test',
      undefined,
      404,
      '"error":"gate_not_found"',
    ],
    ['by another method', 'GET /v1/gates/demo/test', undefined, 405],
    {
      name: "a stranger's",
      method: 'POST',
      url: '/v1/gates/demo/test',
      headers: { authorization: `Bearer ${strangerKey}` },
      status: 404,
    },
  ])
})
