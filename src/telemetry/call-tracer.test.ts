/** Spans of a call lie where its row says, also where the machine's clock was set while it ran. */
import { expect, test } from 'bun:test'
import type { Tracer } from '@opentelemetry/api'
import { AlwaysOnSampler } from '@opentelemetry/sdk-trace'
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import { beginAttempt } from '../gateway/call.ts'
import { CallTracer, PreparedIds } from './call-tracer.ts'

const DAY_MS = 86_400_000

function record(startedAt: number, durationMs: number): CallRecord {
  return {
    ...{ id: 'req_1' as CallId, accountId: 'acct_1' as AccountId, keyId: 'key_1' as KeyId },
    ...{
      gateId: 'gate' as GateId,
      dialect: 'openai-chat',
      stream: false,
      target: 'openai/m',
      attempts: 2,
    },
    ...{
      outcome: 'succeeded',
      status: 200,
      errorKind: null,
      startedAt,
      firstByteMs: 900,
      durationMs,
    },
    ...{ usage: null, credential: 'platform' },
  }
}

test.each([-365 * DAY_MS, 0, 365 * DAY_MS])(
  'attempts lie within their call where the clock was set by %d ms since the process began',
  (setByMs) => {
    const spans: { name: string; startMs: number; endMs: number }[] = []
    const tracer = {
      startSpan(name: string, { startTime }: { startTime: number }) {
        const span = { name, startMs: startTime, endMs: Number.NaN }
        spans.push(span)
        return {
          ...{ setAttributes: () => {}, setAttribute: () => {}, setStatus: () => {} },
          spanContext: () => ({ traceId: '', spanId: '', traceFlags: 1 }),
          end(endMs: number) {
            span.endMs = endMs
          },
        }
      },
    } as unknown as Tracer
    const observer = new CallTracer({
      ...{
        tracer,
        ids: new PreparedIds(),
        sampler: new AlwaysOnSampler(),
        providerNames: new Map(),
      },
    })
    const traced = observer.begin(new Headers())
    const now = performance.now()
    const attempt = (beganMs: number) =>
      beginAttempt({ elapsed: () => now - 1_000 + beganMs }, 'openai/m', traced.beginAttempt())
    const failed = { ...attempt(10), failedAt: now - 700, status: 503 }
    const answered = { ...attempt(310), status: 200 }
    const startedAt = Math.round(performance.timeOrigin + now - 1_000 + setByMs)
    observer.finish(record(startedAt, 1_000), [failed, answered], traced)
    const [call, first, second] = spans
    expect(call).toMatchObject({ startMs: startedAt, endMs: startedAt + 1_000 })
    // Time has passed since the call ended, by which they seem to be earlier; on a stopped machine
    // a lot of it.
    const isAt = (given: number | undefined, atMs: number) =>
      given !== undefined && given <= atMs && given > atMs - DAY_MS / 2
    for (const [given, afterMs] of [
      [first?.startMs, 10],
      [first?.endMs, 300],
      [second?.startMs, 310],
    ] as const)
      expect(isAt(given, startedAt + afterMs)).toBeTrue()
    expect(second?.endMs).toBe(startedAt + 1_000)
    expect((first?.endMs ?? 0) - (first?.startMs ?? 0)).toBeCloseTo(290, 1)
  },
)
