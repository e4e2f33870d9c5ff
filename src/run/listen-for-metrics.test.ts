/** How failures of the metrics server, and of any other, appear in the log. */
import { expect, test } from 'bun:test'
import { listenForMetrics } from './listen-for-metrics.ts'

const telemetry = { metrics: { host: '127.0.0.1', port: 0 } } as never

test('an error that a handler throws is logged with its request id, without its texts', async () => {
  const lines: object[] = []
  const log = {
    info() {},
    error: (fields: object, message: string) => lines.push({ fields, message }),
  }
  const fail = (request: Request): never => {
    const secret = new URL(request.url).searchParams.get('key')
    throw Object.assign(new TypeError(`a secret in a message: ${secret}\n  at ${secret}`), {
      code: 'ERR_BROKEN',
      input: secret,
      cause: new RangeError(`a secret in a cause: ${secret}`),
    })
  }
  const listener = listenForMetrics(fail as never, { telemetry }, log)
  if (listener === undefined) throw new Error('there is no listener')
  try {
    const answer = await fetch(`${listener.url}/metrics?key=sk-secret`)
    expect(answer.status).toBe(500)
    expect(lines).toEqual([
      {
        message: 'a request failed inside the gateway',
        fields: {
          requestId: answer.headers.get('x-request-id'),
          err: {
            type: 'TypeError',
            code: 'ERR_BROKEN',
            stack: expect.stringContaining('listen-for-metrics.test.ts'),
            cause: { type: 'RangeError', stack: expect.stringMatching(/^at /) },
          },
        },
      },
    ])
    expect(JSON.stringify(lines)).not.toContain('secret')
  } finally {
    await listener.stop()
  }
})
