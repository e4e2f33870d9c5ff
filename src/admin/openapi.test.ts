import { describe, expect, test } from 'bun:test'
import { useControlPlane } from './control-plane.fixture.ts'

const { sendForJson } = useControlPlane()

describe('the OpenAPI document', () => {
  test('is version 1.0.0 in OpenAPI 3.1, with its security schemes and both planes', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0' },
      security: [{ bearer: [] }, { session: [] }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    })
    expect(Object.keys(document.paths as object)).toEqual(
      expect.arrayContaining([
        '/v1/gates/{id}',
        '/v1/keys/import',
        '/v1/responses',
        '/v1/chat/completions',
        '/v3/chat',
        '/alt/v1/fim/completions',
        '/alt/v1/chat/completions',
        '/v1/models',
      ]),
    )
  })

  test('every reference in it leads somewhere', async () => {
    const document = await sendForJson({ url: '/openapi.json' })
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    const { schemas } = document.components as { schemas: Record<string, unknown> }
    for (const [, name] of references) expect(schemas).toHaveProperty(`${name}`)
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Gate', 'ApiKey', 'Log', 'Error', 'NestedError']),
    )
  })
})
