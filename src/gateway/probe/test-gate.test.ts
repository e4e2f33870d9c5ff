import { describe, expect, test } from 'bun:test'
import {
  CHAT_JSON,
  MESSAGES_JSON,
  MESSAGES_USAGE,
  RESPONSES_JSON,
  RESPONSES_USAGE,
} from '../../../test/support/dialect-samples.ts'
import {
  CALLER,
  type GateScript,
  type GatewayScript,
  InProcessGateway,
} from '../../../test/support/in-process-gateway.ts'
import {
  CUT,
  head,
  json,
  pause,
  piece,
  type Script,
  SILENCE,
  UNREACHABLE,
} from '../../../test/support/scripted-upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { testGate } from './test-gate.ts'

interface Scene extends Omit<GatewayScript, 'gates' | 'upstream'> {
  readonly gate: GateScript
  readonly concurrentCalls?: number
}

/** Runs one test of a gate to its end in scripted time. */
async function run(
  { gate: script, concurrentCalls, ...rest }: Scene,
  upstream: readonly Script[] = [],
) {
  const gateway = new InProcessGateway({ ...rest, gates: { tested: script }, upstream })
  const gate = gateway.ports.gates.findNamed(CALLER.accountId, 'tested')
  if (gate === undefined) throw new Error('There is no such gate.')
  const limits = { ...CALLER.limits, ...(concurrentCalls === undefined ? {} : { concurrentCalls }) }
  const rows = await gateway.clock.finish(testGate(gateway.ports, { ...CALLER, limits }, gate))
  const tookMs = gateway.clock.passedMs
  expect(JSON.stringify(rows)).not.toContain('planted-')
  await gateway.assertNothingIsLeft()
  return { rows, gateway, tookMs, sent: gateway.upstream.sent }
}

const CHAT = 'groq/llama-7b'
const CHAT_ANSWER = json(200, CHAT_JSON)

test('every target is called once, alone, in its own dialect, and reported in the order of the gate', async () => {
  const gate = ['openai/gpt-5', 'anthropic/claude-opus-5', CHAT]
  const after = (ms: number, script: Script) => [pause(ms), ...script]
  const { rows, sent, gateway } = await run({ gate }, [
    after(300, json(200, RESPONSES_JSON)),
    after(200, json(200, MESSAGES_JSON)),
    after(100, CHAT_ANSWER),
  ])
  const ok = (target: string, dialect: string, latencyMs: number, usage: object) =>
    ({
      target,
      status: 'ok',
      httpStatus: 200,
      latencyMs,
      firstByteMs: latencyMs,
      dialect,
      usage,
    }) as never
  expect(rows).toEqual([
    ok('openai/gpt-5', 'openai-responses', 300, RESPONSES_USAGE),
    ok('anthropic/claude-opus-5', 'anthropic-messages', 200, MESSAGES_USAGE),
    ok(CHAT, 'openai-chat', 100, RESPONSES_USAGE),
  ])
  expect(sent.map(({ body }) => JSON.parse(body))).toMatchObject([
    { model: 'gpt-5', input: 'Say OK.', max_output_tokens: 32 },
    { model: 'claude-opus-5', messages: [{ content: 'Say OK.' }], max_tokens: 32 },
    { model: 'llama-7b', messages: [{ content: 'Say OK.' }], max_tokens: 32 },
  ])
  // The test's calls acquire slots and are recorded like all other calls.
  expect(
    gateway.ledger.records.map(({ target, gateId, keyId }) => [target, gateId, keyId]),
  ).toEqual(gate.toReversed().map((target) => [target, 'tested', CALLER.keyId]) as never)
})

describe('the number of targets called at once', () => {
  const gate = [CHAT, 'groq/b', 'groq/c', 'groq/d']
  const slow = [pause(1_000), ...CHAT_ANSWER]
  test.each([
    [undefined, [0, 0, 0, 0]],
    [10, [0, 0, 0, 0]],
    [3, [0, 0, 0, 1_000]],
    [1, [0, 1_000, 2_000, 3_000]],
    // A key without slots refuses each target's call.
    [0, [0, 1_000, 2_000, 3_000]],
  ])('for a key with %p calls', async (concurrentCalls, atMs) => {
    const scene = concurrentCalls === undefined ? { gate } : { gate, concurrentCalls }
    const { rows, sent } = await run(scene, [slow, slow, slow, slow])
    expect(sent.map((request) => request.atMs)).toEqual(atMs)
    expect(sent.map(({ body }) => `groq/${JSON.parse(body).model}`)).toEqual(gate)
    expect(rows.map(({ target, status, latencyMs }) => [target, status, latencyMs])).toEqual(
      gate.map((target) => [target, 'ok', 1_000]),
    )
  })
})

describe('each target is called alone and once, whatever the gate says', () => {
  test('without a retry, a hedge or another target', async () => {
    const targets = [{ model: CHAT, weight: 0 }, { model: 'groq/b' }]
    const gate = { targets, strategy: 'weighted', hedgeAfterMs: 10, maxRetries: 3 } as const
    const { rows, sent } = await run({ gate }, [
      [pause(100), ...json(503, '{}', { 'retry-after': '0' })],
      [pause(100), ...CHAT_ANSWER],
    ])
    expect(sent).toHaveLength(2)
    expect(rows).toMatchObject([
      { target: CHAT, status: 'failed', httpStatus: 503 },
      { target: 'groq/b', status: 'ok' },
    ])
  })

  test('the gate’s defaults apply, except for the test’s own limit', async () => {
    const defaults = { temperature: 0.25, instructions: 'Be kind.', maxOutputTokens: 9_999 }
    for (const overrides of ['ignore', 'reject', 'allow'] as const) {
      const gate = { targets: [{ model: CHAT }], overrides, defaults }
      const { rows, sent } = await run({ gate }, [CHAT_ANSWER])
      expect(rows).toMatchObject([{ status: 'ok' }])
      expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
        temperature: 0.25,
        max_tokens: 32,
        messages: [{ content: 'Be kind.' }, { content: 'Say OK.' }],
      })
      expect(sent[0]?.body).not.toContain('9999')
    }
  })

  test.each([
    [null, 30_000],
    [90_000, 30_000],
    [2_000, 2_000],
  ])('a gate with a limit of %p ms is waited for %d ms', async (timeoutMs, waitedMs) => {
    const gate = { targets: [{ model: CHAT }], timeoutMs }
    const timeouts = { firstByteMs: 300_000, totalMs: 600_000 }
    const { rows, tookMs } = await run({ gate, timeouts }, [[SILENCE]])
    expect(rows).toMatchObject([
      {
        status: 'failed',
        httpStatus: 504,
        error: { code: 'upstream_timeout' },
        latencyMs: waitedMs,
      },
    ])
    expect(rows[0]).not.toHaveProperty('firstByteMs')
    expect(tookMs).toBe(waitedMs)
  })
})

describe('a target that cannot be called', () => {
  const untestable = (target: string, message: string) => ({
    rows: [
      {
        target,
        status: 'failed',
        error: { code: 'not_testable', message },
        latencyMs: 0,
        dialect: null,
      },
    ],
  })

  test.each(['nobody/model', 'nonsense', 'owned/gone'])('%s: it is unknown', async (target) => {
    const { rows, gateway } = await run({ gate: [target] })
    expect({ rows }).toEqual(
      untestable(
        target,
        `The provider of ${target} is unknown to this gateway, or has no address.`,
      ) as never,
    )
    expect(gateway.ledger.records).toEqual([])
  })

  test('its provider has no address: the variable for one is named', async () => {
    const { rows } = await run({ gate: ['vllm/qwen3'], withoutAddress: ['vllm'] })
    expect({ rows }).toEqual(
      untestable(
        'vllm/qwen3',
        'No address is configured for vllm: the operator has to set VLLM_BASE_URL.',
      ) as never,
    )
  })

  test('it has no dialect that callers use', async () => {
    const mute = {
      slug: 'mute',
      provider: { id: 'owned/mute', name: 'Mute', baseUrl: 'https://mute.test', endpoints: {} },
      model: 'm',
      credential: undefined,
    }
    const { rows } = await run({ gate: ['owned/mute'], ownedModels: [mute] })
    expect({ rows }).toEqual(
      untestable('owned/mute', 'Mute supports no format that a test can use.') as never,
    )
  })

  test('it has no credential: the result has no status, as no server answered', async () => {
    const { rows } = await run({ gate: [CHAT], credentials: { groq: 'none' } })
    expect(rows).toEqual([
      {
        target: CHAT,
        status: 'failed',
        latencyMs: 0,
        dialect: 'openai-chat',
        error: { code: 'provider_auth_failed', message: expect.stringContaining('No credential') },
      },
    ])
  })
})

describe('a target that fails', () => {
  const failed = async (script: Script, scene: Partial<Scene> = {}) => {
    const { rows } = await run({ gate: [CHAT, 'groq/b'], concurrentCalls: 1, ...scene }, [
      script,
      CHAT_ANSWER,
    ])
    // One target's failure does not change the next target's result.
    expect(rows[1]).toMatchObject({ target: 'groq/b', status: 'ok' })
    return rows[0]
  }

  test('is reported in its own words, which are cut at a length', async () => {
    const row = await failed(
      json(400, { error: { message: `Bad. ${'x'.repeat(600)}`, type: 't', code: null } }),
    )
    expect(row).toEqual({
      target: CHAT,
      status: 'failed',
      httpStatus: 400,
      latencyMs: 0,
      dialect: 'openai-chat',
      error: { code: 'upstream_error', message: `Bad. ${'x'.repeat(495)}` },
    })
  })

  test.each<[string, Script, number, string, RegExp]>([
    [
      'by refusing the credential',
      json(401, '{"error":{"message":"planted-x"}}'),
      502,
      'provider_auth_failed',
      /refused the gateway's credential/,
    ],
    [
      'by a limit',
      json(429, '{"error":{"message":"Slow down"}}'),
      429,
      'upstream_error',
      /^Slow down$/,
    ],
    ['at an address without a server', UNREACHABLE, 502, 'upstream_error', /groq\/llama-7b/],
    [
      'with an unusable answer',
      json(200, '[]'),
      502,
      'upstream_error',
      /JSON that is not an object/,
    ],
  ])('%s', async (_, script, httpStatus, code, message) => {
    const row = await failed(script)
    expect(row).toMatchObject({ status: 'failed', httpStatus })
    expect(row?.error).toEqual({ code, message: expect.stringMatching(message) })
  })

  test('by an answer too large to hold, which breaks off', async () => {
    const large = piece('x'.repeat(4 * 1024 * 1024 + 1))
    const type = { 'content-type': 'application/json' }
    const row = await failed([head(200, type), large, piece('x'), CUT])
    expect(row).toMatchObject({
      status: 'failed',
      httpStatus: 200,
      error: { code: 'upstream_error', message: 'The answer ended before it was complete.' },
    })
  })
})

describe('an internal failure is reported by its code, without a status of the target', () => {
  const refuse =
    (kind: 'rate_limited' | 'quota_exceeded' | 'unavailable', message: string) => () => {
      throw new GatewayError(kind, message)
    }
  test.each<[string, Partial<Scene>, string, string]>([
    [
      'too many calls',
      { limits: { admit: refuse('rate_limited', 'Slow.') } },
      'rate_limit_exceeded',
      'Slow.',
    ],
    [
      'a budget that is used up',
      { limits: { admit: refuse('quota_exceeded', 'Used up.') } },
      'quota_exceeded',
      'Used up.',
    ],
    [
      'limits that are unknown',
      { limits: { admit: refuse('unavailable', 'Who?') } },
      'unavailable',
      'Who?',
    ],
    [
      'a journal that is full',
      { ledger: { assertWritable: refuse('unavailable', 'Full.') } },
      'unavailable',
      'Full.',
    ],
    [
      'a quota that is used up',
      { limits: { reserveQuota: () => new GatewayError('quota_exceeded', 'Used up.') } },
      'quota_exceeded',
      'Used up.',
    ],
  ])('%s', async (_, scene, code, message) => {
    const { rows } = await run({ gate: [CHAT], ...scene })
    const error = { code, message }
    expect(rows).toEqual([
      { target: CHAT, status: 'failed', latencyMs: 0, dialect: 'openai-chat', error },
    ])
  })

  test('a bug', async () => {
    const admit = () => {
      throw new Error('planted-fault')
    }
    const { rows, gateway } = await run({ gate: [CHAT], limits: { admit } })
    expect(rows).toMatchObject([{ status: 'failed', error: { code: 'internal_error' } }])
    expect(gateway.failures).toHaveLength(1)
  })

  test('an answer that could not be recorded has failed', async () => {
    const record = () => Promise.reject(new GatewayError('unavailable', 'The journal is full.'))
    const { rows } = await run({ gate: [CHAT], ledger: { record } }, [CHAT_ANSWER])
    expect(rows).toMatchObject([
      { status: 'failed', error: { code: 'unavailable', message: 'The journal is full.' } },
    ])
  })
})
