import { describe, expect, test } from 'bun:test'
import { AlwaysOnSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace'
import { forwardTraceHeaders } from '../net/headers.ts'
import { TracedCall } from './call-tracer.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() })

const trace = (traceparent: string, tracestate?: string) =>
  new TracedCall(
    new Headers({ traceparent, ...(tracestate === undefined ? {} : { tracestate }) }),
    sampler,
  )

describe('a valid parent is continued', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    // A later version may say more.
    [`01-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, true],
  ])('%s', (traceparent, isSampled) => {
    const traced = trace(traceparent, 'a=1,b=2')
    expect(traced).toMatchObject({ traceId: TRACE, isSampled })
    const { headers, spanId } = traced.beginAttempt()
    expect(headers).toEqual({
      traceparent: `00-${TRACE}-${spanId}-${isSampled ? '01' : '00'}`,
      tracestate: 'a=1,b=2',
    })
  })
})

describe('an invalid parent is dropped, together with its state', () => {
  test.each([
    '',
    'nonsense',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ])('%p', (traceparent) => {
    const traced = trace(traceparent, 'a=1')
    expect(traced.traceId).not.toBe(TRACE)
    expect(traced.beginAttempt().headers).toEqual({
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    })
    if (!/^00-\w+-\w{16}-\w\w-more|, /.test(traceparent))
      expect(forwardTraceHeaders(new Headers({ traceparent, tracestate: 'a=1' }))).toEqual({})
  })
})

test('each attempt has a separate span', () => {
  const traced = trace(`00-${TRACE}-${SPAN}-01`)
  const ids = [traced.spanId, traced.beginAttempt().spanId, traced.beginAttempt().spanId, SPAN]
  expect(new Set(ids).size).toBe(4)
})
