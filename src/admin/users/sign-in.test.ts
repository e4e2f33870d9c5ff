import { describe, expect, test } from 'bun:test'
import type { CallId } from '../../core/ids.ts'
import { useControlPlane } from '../control-plane.fixture.ts'

const { current } = useControlPlane()

const ORIGIN = 'http://gatehouse.test'

interface Asked {
  readonly address: string
  readonly body: string | ReadableStream<Uint8Array>
}

function post(path: string, { address, body }: Asked): Promise<Response> {
  const headers = { origin: ORIGIN, 'x-gatehouse-csrf': '1', 'content-type': 'application/json' }
  const request = new Request(`${ORIGIN}${path}`, { method: 'POST', headers, body })
  return current().controlPlane.handle(request, 'req_test' as CallId, address)
}

describe('a flood of requests to sign in', () => {
  test.each(['/v1/auth/sign-in', '/v1/auth/sign-up', '/v1/auth/oidc', '/v1/auth/invitation'])(
    '%s is refused before its bodies are read, and other addresses are not affected',
    async (path) => {
      const flood = { address: '192.0.2.1', body: 'no JSON at all' }
      const statuses: number[] = []
      for (let count = 0; count < 301; count += 1) statuses.push((await post(path, flood)).status)
      expect(new Set(statuses.slice(0, 300))).toEqual(new Set([400]))
      expect(statuses[300]).toBe(429)
      let hasRead = false
      const watched = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            hasRead = true
            controller.enqueue(new TextEncoder().encode('{'))
          },
        },
        { highWaterMark: 0 },
      )
      const refused = await post(path, { address: '192.0.2.1', body: watched })
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(hasRead).toBeFalse()
      expect((await post(path, { ...flood, address: '192.0.2.2' })).status).toBe(400)
    },
  )
})
