import { describe, expect, test } from 'bun:test'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, send, sendForJson } = useControlPlane()

const url = '/v1/owned-models'
const asStranger = { authorization: `Bearer ${strangerKey}` }
const model = {
  slug: 'llama',
  dialect: 'openai-chat',
  baseUrl: 'https://models.vendor.com/v1/',
  upstreamModelId: 'llama3.3',
  credential: 'canary',
  pricingInput: 1,
  pricingOutput: 2,
}
const register = (slug = 'llama') => send({ method: 'POST', url, body: { ...model, slug } })

describe('owned models', () => {
  check([
    {
      name: 'registering one',
      method: 'POST',
      url,
      body: model,
      status: 201,
      holds: [
        '"displayName":"llama"',
        '"pricingCachedInput":1',
        '"baseUrl":"https://models.vendor.com/v1"',
        '"latencyMs":7',
      ],
      hides: ['canary', 'account'],
    },
    ['a slug of 63 characters', `POST ${url}`, { ...model, slug: `1${'-'.repeat(62)}` }, 201],
    [
      'a slug with a line break at its end',
      `POST ${url}`,
      { ...model, slug: 'a\n' },
      400,
      'slug: ',
    ],
    [
      'an address of 501 characters',
      `POST ${url}`,
      { ...model, baseUrl: `https://x.com/${'y'.repeat(487)}` },
      400,
      'baseUrl: ',
    ],
    ['a credential given twice', `POST ${url}`, '{"credential":"a","credential":"b"}', 400],
    ['one that is not there', `GET ${url}/none`, undefined, 404, '"error":"not_found"'],
    ['changing one that is not there', `PATCH ${url}/none`, { displayName: 'x' }, 404],
    ['deleting one that is not there', `DELETE ${url}/none`, undefined, 404],
    [
      'changing the address',
      `PATCH ${url}/none`,
      { baseUrl: 'https://x.com' },
      400,
      'the credential belongs to it',
    ],
    [
      'changing the dialect',
      `PATCH ${url}/none`,
      { dialect: 'mistral-fim' },
      400,
      'dialect: cannot be changed',
    ],
    [
      'an invalid header',
      `POST ${url}`,
      { ...model, credentialHeader: 'cookie' },
      400,
      'credentialHeader: ',
    ],
    ['a model for embeddings', `POST ${url}`, { ...model, dialect: 'openai-embeddings' }, 201],
    [
      'a probe of the caller',
      `POST ${url}`,
      { ...model, probe: null },
      400,
      'probe: is set by the gateway',
    ],
    [
      'asking one that is not there',
      `POST ${url}/none/probe`,
      undefined,
      404,
      '"error":"not_found"',
    ],
    ['a cursor of nothing', `GET ${url}?cursor=x`, undefined, 400, 'cursor'],
    ['an unknown parameter', `DELETE ${url}/none?force=1`, undefined, 400, 'force'],
    [
      'a gate that names none',
      'POST /v1/gates',
      { targets: [{ model: 'owned/none' }] },
      400,
      'targets[0].model: names an owned',
    ],
    [
      'a gate that names no slug',
      'POST /v1/gates',
      { targets: [{ model: 'owned/a/b' }] },
      400,
      'targets[0].model: ',
    ],
  ])

  test('the address, the model and its dialect are enough: there is no credential, and prices are zero', async () => {
    const { credential: _, pricingInput: __, pricingOutput: ___, ...least } = model
    expect(await sendForJson({ method: 'POST', url, body: least })).toMatchObject({
      credentialSetAt: null,
      pricingInput: 0,
      pricingOutput: 0,
      pricingCachedInput: 0,
    })
    const patched = (body: object) => sendForJson({ method: 'PATCH', url: `${url}/llama`, body })
    expect(await patched({ credential: 'canary' })).toMatchObject({
      credentialSetAt: expect.stringMatching(/^\d{4}-/),
      // It was asked again.
      warnings: [],
    })
    expect(await patched({ displayName: 'x' })).toMatchObject({
      credentialSetAt: expect.stringMatching(/^\d{4}-/),
    })
    expect(
      (await send({ method: 'PATCH', url: `${url}/llama`, body: { credential: null } })).status,
    ).toBe(400)
    const removal = { method: 'DELETE', url: `${url}/llama/credential` }
    expect(await sendForJson(removal)).toMatchObject({ credentialSetAt: null, warnings: [] })
    const again = await sendForJson(removal)
    expect(again).toMatchObject({ credentialSetAt: null })
    expect(again).not.toHaveProperty('warnings')
    expect(await sendForJson({ method: 'GET', url: `${url}/llama` })).toMatchObject({
      credentialSetAt: null,
    })
  })

  test('another account cannot reach the model, its slug or a gate to it', async () => {
    await register()
    const calls = [
      { method: 'GET', url: `${url}/llama`, status: 404 },
      { method: 'PATCH', url: `${url}/llama`, body: { credential: 'mine' }, status: 404 },
      { method: 'POST', url: `${url}/llama/probe`, status: 404 },
      { method: 'DELETE', url: `${url}/llama/credential`, status: 404 },
      { method: 'DELETE', url: `${url}/llama`, status: 404 },
      {
        method: 'POST',
        url: '/v1/gates',
        body: { targets: [{ model: 'owned/llama' }] },
        status: 400,
      },
    ]
    for (const { status, ...call } of calls) {
      expect((await send({ ...call, headers: asStranger })).status).toBe(status)
    }
    expect(await sendForJson({ url, headers: asStranger })).toEqual({ data: [], nextCursor: null })
    expect(await sendForJson({ url: `${url}/llama` })).toMatchObject({ slug: 'llama' })
  })

  test('the result of a probe is shown wherever the model is, and renewed on request', async () => {
    const { probe } = (await (await register()).json()) as { probe: object }
    expect(probe).toMatchObject({ status: 'reachable', httpStatus: 200, latencyMs: 7 })
    expect((await sendForJson({ url: `${url}/llama` })).probe).toEqual(probe)
    expect((await sendForJson({ url })).data).toMatchObject([{ slug: 'llama', probe }])
    const again = await sendForJson({ method: 'POST', url: `${url}/llama/probe` })
    expect(again).toMatchObject({ slug: 'llama', probe: { status: 'reachable' }, warnings: [] })
    expect(again.probe).not.toEqual(probe)
  })

  test.each([
    [{ credential: 'another' }, true],
    [{ upstreamModelId: 'another' }, true],
    [{ credentialHeader: 'x-api-key' }, true],
    [{ upstreamModelId: 'llama3.3', credentialHeader: 'auto' }, false],
    [{ displayName: 'x', pricingInput: 9 }, false],
    [{}, false],
  ])('a change of %j probes the model: %p', async (change, isAsked) => {
    const before = (await (await register()).json()) as { probe: object }
    const after = await sendForJson({ method: 'PATCH', url: `${url}/llama`, body: change })
    expect('warnings' in after).toBe(isAsked)
    expect(Bun.deepEquals(after.probe, before.probe)).toBe(!isAsked)
  })

  const coder = { ...model, slug: 'coder', dialect: 'mistral-fim' }
  check([
    {
      name: 'registering one that fills in the middle',
      method: 'POST',
      url,
      body: coder,
      status: 201,
      holds: ['"fimEndpoint":"auto"', '"fimTemplate":"auto"'],
    },
    ['by llama.cpp’s address', `POST ${url}`, { ...coder, fimEndpoint: 'infill' }, 201],
    [
      'with the tokens of a family',
      `POST ${url}`,
      { ...coder, fimEndpoint: 'completions-template', fimTemplate: 'qwen-coder' },
      201,
    ],
    [
      'with tokens of the family in its name',
      `POST ${url}`,
      { ...coder, fimEndpoint: 'completions-template', upstreamModelId: 'starcoder2:3b' },
      201,
    ],
    [
      'with tokens of an unknown family',
      `POST ${url}`,
      { ...coder, fimEndpoint: 'completions-template' },
      400,
      'fimTemplate: is required',
    ],
    [
      'filling in the middle in another dialect',
      `POST ${url}`,
      { ...model, fimEndpoint: 'infill', fimTemplate: 'codestral' },
      400,
      'fimEndpoint: is for models of the dialect mistral-fim alone',
    ],
    ['an unknown endpoint', `POST ${url}`, { ...coder, fimEndpoint: 'beta' }, 400, 'fimEndpoint: '],
  ])

  test('a change is refused if its result would not be valid', async () => {
    const patch = (slug: string, body: object) =>
      send({ method: 'PATCH', url: `${url}/${slug}`, body })
    await register()
    expect((await patch('llama', { fimEndpoint: 'infill' })).status).toBe(400)
    await send({
      method: 'POST',
      url,
      body: { ...coder, upstreamModelId: 'starcoder2', fimEndpoint: 'completions-template' },
    })
    expect((await patch('coder', { upstreamModelId: 'mine' })).status).toBe(400)
    expect(
      (await patch('coder', { upstreamModelId: 'mine', fimTemplate: 'starcoder2' })).status,
    ).toBe(200)
    expect((await patch('coder', { fimTemplate: 'auto' })).status).toBe(400)
    expect((await patch('coder', { fimTemplate: 'auto', fimEndpoint: 'auto' })).status).toBe(200)
  })

  test('the list is paged, newest first', async () => {
    for (const slug of ['a', 'b', 'c']) await register(slug)
    const first = await sendForJson({ url: `${url}?limit=2` })
    const second = await sendForJson({ url: `${url}?limit=2&cursor=${first.nextCursor}` })
    const slugs = [first, second].map(({ data }) =>
      (data as { slug: string }[]).map(({ slug }) => slug),
    )
    expect(slugs).toEqual([['c', 'b'], ['a']])
    expect(second.nextCursor).toBeNull()
  })

  test('the document has the bounds, and marks a credential as write-only', async () => {
    const { components } = (await sendForJson({ url: '/openapi.json' })) as {
      components: {
        schemas: Record<string, { properties: Record<string, object>; required?: string[] }>
      }
    }
    const { UpdateOwnedModel: change, OwnedModel: shown } = components.schemas
    expect(change).toMatchObject({
      properties: {
        displayName: { minLength: 1, maxLength: 120 },
        upstreamModelId: { minLength: 1, maxLength: 200 },
        credential: { minLength: 1, maxLength: 500, writeOnly: true },
        credentialHeader: { enum: ['auto', 'authorization', 'x-api-key'] },
        fimEndpoint: {
          enum: ['auto', 'fim-completions', 'infill', 'completions-suffix', 'completions-template'],
        },
        pricingInput: { type: 'integer', minimum: 0, maximum: 10_000 },
        pricingOutput: { type: 'integer', minimum: 0, maximum: 10_000 },
        pricingCachedInput: { type: 'integer', minimum: 0, maximum: 10_000 },
      },
      additionalProperties: false,
    })
    expect(change?.required).toBeUndefined()
    expect(Object.keys(change?.properties ?? {})).toHaveLength(9)
    expect(shown?.properties).not.toHaveProperty('credential')
  })
})
