import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Secret } from '../../core/secret.ts'
import { probeProviderKey } from './probe-provider-key.ts'

const KEY = 'planted-key-0123456789'
const key = new Secret(KEY)

let server: ReturnType<typeof Bun.serve>
const asked: { method: string; path: string; headers: Headers }[] = []
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname
      asked.push({ method: request.method, path, headers: request.headers })
      const status = Number(path.split('/')[1])
      if (status === 0) await Bun.sleep(10_000)
      const headers = status === 302 ? { location: '/200/models' } : {}
      return new Response(`no such key: ${KEY}`, { status, headers })
    },
  })
})
afterAll(() => server.stop(true))

const at = (status: number) => ({
  id: 'example',
  baseUrl: `http://127.0.0.1:${server.port}/${status}`,
  keyCheck: { path: '/models' },
})

test.each([
  [200, 'accepted', 'example accepted the key (HTTP 200).'],
  [401, 'refused', 'example refused the key (HTTP 401).'],
  [403, 'refused', 'example refused the key, or the key lacks a permission (HTTP 403).'],
  [400, 'unknown', 'example gave no usable answer (HTTP 400).'],
  [302, 'unknown', 'example gave no usable answer (HTTP 302).'],
  [404, 'not_probed', 'example has no endpoint at its address that could test the key (HTTP 404).'],
  [429, 'unknown', 'example gave no usable answer (HTTP 429).'],
  [500, 'unknown', 'example gave no usable answer (HTTP 500).'],
] as const)('%d is %s', async (httpStatus, status, detail) => {
  asked.length = 0
  expect(await probeProviderKey(at(httpStatus), key)).toEqual({ status, httpStatus, detail })
  expect(asked.map(({ method, path }) => [method, path])).toEqual([
    ['GET', `/${httpStatus}/models`],
  ])
  expect(asked[0]?.headers.get('authorization')).toBe(`Bearer ${KEY}`)
})

test('a vendor that refuses keys with another status is understood by its data', async () => {
  const provider = { ...at(400), keyCheck: { path: '/models', refusedWith: 400 } }
  expect(await probeProviderKey(provider, key)).toMatchObject({ status: 'refused' })
})

test('the key goes into the header of its vendor, beside the headers that all requests have', async () => {
  asked.length = 0
  const provider = { ...at(200), keyHeader: 'x-api-key', headers: { 'x-version': '1' } }
  await probeProviderKey(provider, key)
  const [request] = asked
  expect(request?.headers.get('x-api-key')).toBe(KEY)
  expect(request?.headers.get('x-version')).toBe('1')
  expect(request?.headers.get('authorization')).toBeNull()
})

test('a provider that is silent or away is unknown', async () => {
  expect(await probeProviderKey(at(0), key, { timeoutMs: 50 })).toEqual({
    status: 'unknown',
    detail: 'example did not answer within 0.05 seconds.',
  })
  const away = { ...at(200), baseUrl: 'http://127.0.0.1:1' }
  expect(await probeProviderKey(away, key)).toEqual({
    status: 'unknown',
    detail: 'example could not be reached.',
  })
})

test('a provider without such a request, or without an address, is asked nothing', async () => {
  asked.length = 0
  const { keyCheck: _, ...without } = at(200)
  const signing = { type: 'aws', service: 'example' } as const
  for (const [provider, what] of [
    [without, 'documents no free request'],
    [{ ...without, signing }, 'sign requests'],
    [undefined, 'no address'],
  ] as const)
    expect(await probeProviderKey(provider, key)).toEqual({
      status: 'not_probed',
      detail: expect.stringContaining(what),
    })
  expect(asked).toEqual([])
})
