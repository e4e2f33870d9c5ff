import { beforeEach, describe, expect, test } from 'bun:test'
import type { CallRecord } from '../core/call.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { stranger, useControlPlane } from './control-plane.fixture.ts'

const { check, current, sendForJson } = useControlPlane()

describe('logs', () => {
  const call = (id: string, changes: Partial<CallRecord> = {}): CallRecord => ({
    id: id as CallId,
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: 'demo' as GateId,
    dialect: 'openai-chat',
    stream: false,
    target: 'openai/gpt-5',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: Date.parse('2026-01-01T00:00:00.123Z'),
    firstByteMs: 5,
    durationMs: 9,
    usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
    credential: 'platform',
    ...changes,
  })

  beforeEach(() =>
    current().store.calls.insertMany([call('req_1'), call('req_2'), call('req_3', { accountId: stranger })]),
  )

  check([
    {
      name: 'a call',
      method: 'GET',
      url: '/v1/logs/req_1',
      status: 200,
      holds: ['"startedAt":"2026-01-01T00:00:00.123Z"', '"inputTokens":1', '"gateId":"demo"'],
      hides: ['accountId'],
    },
    ['a call of another account', 'GET /v1/logs/req_3', undefined, 404, '"error":"not_found"'],
    ['a call that is not there', 'GET /v1/logs/req_9', undefined, 404],
    ['a call with a NUL', 'GET /v1/logs/%00', undefined, 404],
    ['a call with SQL', "GET /v1/logs/'%20OR%201=1--", undefined, 404],
    {
      name: 'the list',
      method: 'GET',
      url: '/v1/logs',
      status: 200,
      holds: ['req_1', 'req_2'],
      hides: ['req_3'],
    },
  ])

  test('pages follow one another', async () => {
    const first = await sendForJson({ url: '/v1/logs?limit=1' })
    const second = await sendForJson({ url: `/v1/logs?limit=1&cursor=${first.nextCursor}` })
    expect(first.data).toMatchObject([{ id: 'req_2' }])
    expect(second).toMatchObject({ data: [{ id: 'req_1' }], nextCursor: null })
  })
})
