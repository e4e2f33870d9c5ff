/**
 * interface-spec, "Versioning": the description's version, versions in paths, and keys from before
 * a prefix changed.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { controlPlaneCall } from '../../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

interface Description {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, object>>
}

/** Paths of the server itself, and not of the interface. */
const WITHOUT_VERSION = ['/', '/docs', '/healthz', '/metrics', '/openapi.json', '/readyz']
const messages = [{ role: 'user', content: 'hi' }]
/** The entry points of the spec, each with a request that is served. */
const ENTRY_POINTS = [
  ['/v1/responses', { model: 'demo', input: 'hi' }],
  ['/v1/chat/completions', { gate_id: 'demo', messages }],
  ['/v3/chat', { gate_id: 'demo', messages }],
  ['/alt/v1/fim/completions', { model: 'demo', prompt: 'def f(' }],
] as const

let gatehouse: Gatehouse
let description: Description
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  description = (await (await fetch(`${gatehouse.url}/openapi.json`)).json()) as Description
})
afterAll(() => gatehouse.remove())

async function status(path: string, body: unknown, key = gatehouse.key): Promise<number> {
  const response = await controlPlaneCall({ url: gatehouse.url, key }, 'POST', path, body)
  await response.text()
  return response.status
}

describe('Versioning', () => {
  test('1. The machine-readable interface description carries version 1.0.0', () => {
    expect(description.info.version).toBe('1.0.0')
    expect(description.openapi).toStartWith('3.1')
  })

  describe('2. Version appears in the path', () => {
    test('/v1/... for most endpoints, and /v3/chat for one chat endpoint', () => {
      const paths = Object.keys(description.paths).filter((path) => !WITHOUT_VERSION.includes(path))
      const others = paths.filter(
        (path) => !path.startsWith('/v1/') && !path.startsWith('/alt/v1/'),
      )
      expect(others).toEqual(['/v3/chat'])
      expect(paths).toContain('/v1/owned-models/{slug}')
    })

    test('The FIM format is under the /alt prefix', () => {
      const paths = Object.keys(description.paths).filter((path) => path.includes('/fim/'))
      expect(paths).toEqual(['/alt/v1/fim/completions'])
    })

    test.each(ENTRY_POINTS)('%s is described, and served there', async (path, body) => {
      expect(description.paths[path]).toHaveProperty('post')
      expect(await status(path, body)).toBe(200)
    })

    test.each(ENTRY_POINTS)('%s is served under this version alone', async (path, body) => {
      const bare = path.replace(/^(?:\/alt)?\/v\d/, '')
      for (const prefix of [
        '',
        '/v2',
        '/v4',
        path === '/v3/chat' ? '/v1' : '/v3',
        '/alt',
        '/alt/v2',
      ]) {
        expect({ path: prefix + bare, status: await status(prefix + bare, body) }).toEqual({
          path: prefix + bare,
          status: 404,
        })
      }
    })

    test('the FIM format is not served without its prefix', async () => {
      expect(await status('/v1/fim/completions', { model: 'demo', prompt: 'def f(' })).toBe(404)
    })
  })

  test('3. Legacy key prefixes remain valid after a prefix change', async () => {
    for (const prefix of ['svc_', 'legacy_', 'sk-svc-']) {
      const key = prefix + randomBytes(32).toString('hex')
      const body = { name: 'from before', key }
      expect((await controlPlaneCall(gatehouse, 'POST', '/v1/keys/import', body)).status).toBe(201)
      for (const [path, request] of ENTRY_POINTS) expect(await status(path, request, key)).toBe(200)
    }
  })
})
