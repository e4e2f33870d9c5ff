import { describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { DocumentSchemas } from '../../../test/support/openapi-document.ts'
import { useControlPlane } from '../control-plane.fixture.ts'
import { OPERATION_EXAMPLES } from './openapi-examples.ts'

const { send, sendForJson } = useControlPlane()

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>
}

async function readOperations(): Promise<(Operation & { readonly path: string })[]> {
  const { paths } = (await sendForJson({ url: '/openapi.json' })) as {
    paths: Record<string, Record<string, Operation>>
  }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).map((operation) => ({ path, ...operation })),
  )
}

describe('the OpenAPI document', () => {
  test('is version 1.0.0 in OpenAPI 3.1, with its security schemes and both planes', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0' },
      security: [{ bearer: [] }, { session: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        },
      },
    })
    expect(document.security).toContainEqual({ bearer: [] })
    expect(Object.keys(document.paths as object)).toEqual(
      expect.arrayContaining([
        '/v1/gates/{id}',
        '/v1/keys/import',
        '/v1/responses',
        '/v1/chat/completions',
        '/v1/messages',
        '/v3/chat',
        '/alt/v1/fim/completions',
        '/alt/v1/chat/completions',
        '/v1/models',
        '/alt/v1/models',
        '/healthz',
        '/readyz',
        '/openapi.json',
        '/docs',
      ]),
    )
  })

  test('is valid by the schema of OpenAPI 3.1', async () => {
    const result = await new Validator().validate(await sendForJson({ url: '/openapi.json' }))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
  })

  test('has no broken reference', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    const references = [
      ...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g),
    ]
    const components = document.components as Record<string, Record<string, unknown>>
    for (const [, kind, name] of references)
      expect(components[`${kind}`]).toHaveProperty([`${name}`])
    expect(references.length).toBeGreaterThan(100)
  })

  test('has a summary, a described tag and the header with the id for every operation', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    const groups = document.tags as readonly { name: string; description?: string }[]
    const described = groups
      .filter(({ description = '' }) => description !== '')
      .map(({ name }) => name)
    for (const { operationId, summary, tags, responses } of await readOperations()) {
      expect({ operationId, summary, tags }).toMatchObject({ summary: expect.any(String) })
      for (const tag of tags)
        expect({ operationId, described }).toMatchObject({
          described: expect.arrayContaining([tag]),
        })
      if (['getWelcome', 'getHealth', 'getReadiness'].includes(operationId)) continue
      for (const { headers } of Object.values(responses))
        expect(headers).toHaveProperty('x-request-id')
    }
  })

  test('is as strict as the server: both accept and refuse the same bodies', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    const schemas = new DocumentSchemas(document)
    const messages = [{ role: 'user', content: 'hi' }]
    const cases: readonly (readonly [boolean, string, object])[] = [
      [true, 'ChatRequest', { model: 'a', messages }],
      [true, 'ChatRequest', { gate_id: 'a', model: null, messages }],
      [false, 'ChatRequest', { messages }],
      [false, 'ChatRequest', { gate_id: null, model: null, messages }],
      [false, 'ChatRequest', { model: '', messages }],
      [false, 'EmbeddingsRequest', { input: 'a' }],
      [false, 'MessagesRequest', { max_tokens: 1, messages }],
      [false, 'FimRequest', { prompt: 'a' }],
      [true, 'UpdateBudget', { alertAt: [0.5, 1] }],
      [false, 'UpdateBudget', { alertAt: [0.5, 0.5] }],
      [false, 'UpdateBudget', { limitUsd: 0 }],
    ]
    for (const [passes, name, body] of cases)
      expect([
        name,
        body,
        schemas.check(['components', 'schemas', name], body).length === 0,
      ]).toEqual([name, body, passes])
    const pattern = /"name":"x-gatehouse-strict".{0,400}?"pattern":("[^"]+")/.exec(
      JSON.stringify(document),
    )
    const strict = new RegExp(JSON.parse(`${pattern?.[1]}`))
    for (const word of ['true', 'TRUE', '1', 'Yes', 'on', 'false', '0', 'NO', 'off'])
      expect([word, strict.test(word)]).toEqual([word, true])
    for (const word of ['', 'strict', 'true ', 'xtrue', '2'])
      expect([word, strict.test(word)]).toEqual([word, false])
  })

  test('has an operation for every example, which comes after an existing one', async () => {
    const ids = (await readOperations()).map(({ operationId }) => operationId)
    for (const [operationId, { after }] of Object.entries(OPERATION_EXAMPLES)) {
      expect(ids).toContain(operationId)
      if (after !== undefined) expect(ids).toContain(after.operationId)
    }
  })
})

describe('the documentation page', () => {
  test('is public, and loads nothing from any other host', async () => {
    const page = await send({ url: '/docs', headers: { authorization: '' } })
    const text = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toStartWith(
      "default-src 'none'; script-src 'self';",
    )
    expect(text).not.toMatch(/https?:\/\//)
    const assets = [...text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(
      ([, path]) => `${path}`,
    )
    expect(assets).toHaveLength(4)
    for (const url of assets) {
      const asset = await send({ url, headers: { authorization: '' } })
      expect({ url, status: asset.status }).toEqual({ url, status: 200 })
      expect(asset.headers.get('content-type')).toMatch(/^text\/(?:css|javascript); charset=utf-8$/)
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(300)
    }
  })
})

test('refusals that routes make are documented: a name that is taken, and too many requests', async () => {
  const { paths } = (await sendForJson({ url: '/openapi.json' })) as {
    readonly paths: Record<string, Record<string, { readonly responses: object }>>
  }
  const statusesOf = (method: string, path: string) =>
    Object.keys(paths[path]?.[method]?.responses ?? {})
  expect(statusesOf('patch', '/v1/tags/{id}')).toContain('409')
  expect(statusesOf('get', '/docs')).toContain('429')
  expect(statusesOf('get', '/openapi.json')).toContain('429')
})
