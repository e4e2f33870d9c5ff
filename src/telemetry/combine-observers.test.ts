import { expect, test } from 'bun:test'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import type { CallObserver } from '../gateway/call-observer.ts'
import { createExportFailureReport } from './otlp.ts'
import { combineObservers } from './start-telemetry.ts'

const RECORD = {
  id: 'req_1' as CallId,
  accountId: DEFAULT_ACCOUNT,
  keyId: 'key_1' as KeyId,
  gateId: 'demo' as GateId,
  dialect: 'openai-chat',
  stream: false,
  target: null,
  attempts: 0,
  outcome: 'failed',
  status: 500,
  errorKind: null,
  startedAt: 0,
  firstByteMs: null,
  durationMs: 0,
  usage: null,
  credential: null,
} as const

test('an observer that throws breaks nothing, is reported once, and the others go on', () => {
  const seen: string[] = []
  const faults: unknown[] = []
  const bad: CallObserver = {
    begin: () => {
      throw new Error('begin')
    },
    finish: () => {
      throw new Error('finish')
    },
    refuse: () => {
      throw new Error('refuse')
    },
  }
  const trace = { traceId: 'x', beginAttempt: () => ({ spanId: 'y', headers: {} }) }
  const good: CallObserver = {
    begin: () => trace,
    finish: () => seen.push('finish'),
    refuse: () => seen.push('refuse'),
  }
  const observer = combineObservers([bad, good], (error) => faults.push(error))
  for (let time = 0; time < 2; time += 1) {
    expect(observer?.begin(new Headers())).toBe(trace)
    observer?.finish(RECORD, [], trace)
  }
  expect(seen).toEqual(['finish', 'finish'])
  expect(faults).toHaveLength(1)
})

test('no observers combine to none', () => {
  expect(combineObservers([], () => {})).toBeUndefined()
})

test('failed exports are reported once a minute, with their number', () => {
  const lines: object[] = []
  let now = 0
  const log = { info() {}, error() {}, warn: (fields: object) => lines.push(fields) }
  const report = createExportFailureReport(log, () => now)
  const error = Object.assign(new Error('refused'), { headers: { authorization: 'secret' } })
  for (; now < 60_000; now += 10_000) report('traces', error)
  report('metrics', undefined)
  expect(lines).toEqual([
    { signal: 'traces', failures: 1, reason: 'refused' },
    { signal: 'metrics', failures: 6, reason: 'unknown' },
  ])
})
