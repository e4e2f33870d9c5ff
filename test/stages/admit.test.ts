/** Stage 3: what the limits and the ledger are asked, and how refused calls end. */

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { CALLER, type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import { json, SILENCE } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_ANSWER, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const LIMITED = new GatewayError('rate_limited', 'Too many requests.', {
  headers: { 'retry-after': '3', 'x-ratelimit-remaining-requests': '0' },
})
const OVER_BUDGET = new GatewayError('quota_exceeded', 'The budget is used up.')
const AWAY = new GatewayError('unavailable', 'Nobody can say.')
const throwing = (error: unknown) => () => {
  throw error
}
const limited = {
  status: 429,
  json: {
    error: { code: 'rate_limit_exceeded', message: 'Too many requests.', type: 'rate_limit_error' },
  },
  headers: {
    'retry-after': '3',
    'x-ratelimit-remaining-requests': '0',
    'x-should-retry': null,
    'x-gatehouse-target': null,
  },
}

describe('refused, without a place, an attempt or a row', () => {
  runRows([
    {
      name: 'by the limits',
      gateway: { limits: { admit: throwing(LIMITED) } },
      seen: limited,
      settled: null,
    },
    {
      name: 'by the limits of other nodes',
      gateway: { limits: { admit: () => Promise.reject(LIMITED) } },
      seen: limited,
      settled: null,
    },
    {
      name: 'for a budget: clients learn not to retry',
      gateway: { limits: { admit: throwing(OVER_BUDGET) } },
      seen: {
        status: 429,
        json: { error: { code: 'insufficient_quota' } },
        headers: { 'x-should-retry': 'false' },
      },
      settled: null,
    },
    {
      name: 'while past usage is unknown',
      gateway: { limits: { whenReady: () => Promise.reject(AWAY) } },
      seen: { status: 503, json: { error: { code: 'unavailable', message: 'Nobody can say.' } } },
      settled: null,
    },
    {
      name: 'at its deadline, while past usage is still being counted',
      gateway: {
        gates: { [GATE]: { targets: [{ model: TARGET }], timeoutMs: 5_000 } },
        limits: { whenReady: () => new Promise(() => {}) },
      },
      seen: { status: 503, json: { error: { code: 'unavailable' } } },
      tookMs: 5_000,
      settled: null,
    },
    {
      name: 'while the ledger cannot be written, before the limits are checked',
      gateway: {
        ledger: {
          assertWritable: throwing(new GatewayError('unavailable', 'The journal is full.')),
        },
        limits: { admit: throwing(new Error('the limits were asked')) },
      },
      seen: { status: 503, json: { error: { message: 'The journal is full.' } } },
      settled: null,
    },
    {
      name: 'by an internal failure, which the operator sees and the caller does not',
      gateway: { limits: { admit: throwing(new Error('secret detail')) } },
      seen: {
        status: 500,
        json: { error: { code: 'internal_error' } },
        forbids: ['secret detail'],
      },
      settled: null,
      failures: [{ kind: 'internal_error', cause: new Error('secret detail') }],
    },
  ])
})

describe('admitted', () => {
  const passed = {
    upstream: [CHAT_ANSWER],
    sent: [{}],
    settled: { outcome: 'succeeded' as const, target: TARGET },
  }
  runRows([
    {
      name: 'the limits get the call’s caller, gate, time and largest usage',
      request: { body: chatBody({ max_tokens: 100 }) },
      seen: { status: 200, headers: { 'x-ratelimit-remaining-requests': '41' } },
      ...passed,
      check: ({ limits, clock }) => {
        const length = Buffer.byteLength(JSON.stringify(chatBody({ max_tokens: 100 })))
        expect(limits.tickets).toMatchObject([
          {
            caller: CALLER,
            call: {
              gateId: GATE,
              startedAtMs: clock.now(),
              estimatedTokens: Math.ceil(length / 4) + 100,
            },
          },
        ])
      },
    },
    ...(
      [
        ['the gate’s cap counts where it has one', {}, { max_tokens: 1 }, 500],
        ['and where the request has none', {}, {}, 500],
        ['for each answer', {}, { n: 3 }, 1_500],
        ['but not where the caller’s counts', { overrides: 'allow' }, { max_tokens: 70 }, 70],
        ['unless that says nothing', { overrides: 'allow' }, {}, 500],
      ] as const
    ).map(([name, members, asked, cap]) => ({
      name: `of the caps on output, ${name}`,
      gateway: {
        gates: {
          [GATE]: { targets: [{ model: TARGET }], defaults: { maxOutputTokens: 500 }, ...members },
        },
      },
      request: { body: chatBody(asked) },
      seen: { status: 200 },
      ...passed,
      check: ({ limits }: InProcessGateway) => {
        const length = Buffer.byteLength(JSON.stringify(chatBody(asked)))
        expect(limits.tickets[0]?.call.estimatedTokens).toBe(Math.ceil(length / 4) + cap)
      },
    })),
    {
      name: 'the ticket’s headers reach the caller',
      gateway: { limits: { headers: { 'x-ratelimit-limit-tokens': '77' } } },
      seen: { status: 200, headers: { 'x-ratelimit-limit-tokens': '77' } },
      ...passed,
    },
    {
      name: 'by the limits of other nodes',
      gateway: { limits: { admit: async () => undefined } },
      seen: { status: 200 },
      ...passed,
    },
    {
      name: 'after past usage is known',
      gateway: { limits: { whenReady: () => Promise.resolve() } },
      seen: { status: 200 },
      ...passed,
    },
    {
      name: 'and refused by a later stage: the headers are there, and the place is given back',
      request: { body: chatBody({ model: 'nobody' }) },
      seen: { status: 404, headers: { 'x-ratelimit-remaining-requests': '41' } },
      settled: {
        outcome: 'failed',
        status: 404,
        gateId: '(unknown)' as never,
        attempts: 0,
        target: null,
      },
      spent: { tokens: 0, countsForQuota: true },
    },
  ])
})

describe('a limit in money', () => {
  const asked = (limits: object, gates: GatewayScript['gates']) => ({
    gateway: { gates, limits },
    request: { body: chatBody({ max_tokens: 100 }) },
    upstream: [CHAT_ANSWER],
    seen: { status: 200 },
    sent: [{}],
    settled: { outcome: 'succeeded' } as const,
  })
  runRows([
    {
      name: 'has what the call may cost at a target of its gate set aside',
      ...asked({ limitsSpend: true }, { [GATE]: [TARGET] }),
      // A micro-dollar per input token, ten per possible output token.
      check: ({ limits: { tickets } }) =>
        expect(tickets[0]?.call.leastNanoUsd).toBeWithin(100 * 10, 100 * 10 + 50),
    },
    {
      name: 'has what it may cost at the model that the caller chooses set aside',
      ...asked(
        { limitsSpend: true },
        {
          [GATE]: { targets: [{ model: 'openai/free' }], overrides: 'allow' },
        },
      ),
      request: { body: { ...chatBody({ max_tokens: 100 }), gate_id: GATE, model: TARGET } },
      check: ({ limits: { tickets } }) =>
        expect(tickets[0]?.call.leastNanoUsd).toBeWithin(100 * 10, 100 * 10 + 50),
    },
    {
      name: 'asks no price of what is no name of a model: prices are remembered by it',
      ...asked(
        { limitsSpend: true },
        {
          [GATE]: { targets: [{ model: 'openai/free' }], overrides: 'allow' },
        },
      ),
      request: {
        body: {
          ...chatBody({ max_tokens: 100 }),
          gate_id: GATE,
          model: `openai/${'x'.repeat(300)}`,
        },
      },
      upstream: [],
      seen: { status: 400 },
      sent: [],
      settled: { outcome: 'failed' },
      check: ({ limits: { tickets } }) => expect(tickets[0]?.call.leastNanoUsd).toBeUndefined(),
    },
    {
      name: 'has what a call usually writes set aside where it names no cap',
      ...asked({ limitsSpend: true }, { [GATE]: [TARGET] }),
      request: { body: chatBody() },
      check: ({ limits: { tickets } }) => {
        expect(tickets[0]?.call.leastNanoUsd).toBeWithin(500 * 10, 500 * 10 + 50)
        expect(tickets[0]?.call).toMatchObject({ estimatedTokens: 16, usualTokens: 500 })
      },
    },
    {
      name: 'has nothing of the kind set aside where there is none',
      ...asked({}, { [GATE]: [TARGET] }),
      check: ({ limits: { tickets } }) => expect(tickets[0]?.call.leastNanoUsd).toBeUndefined(),
    },
  ])
})

describe('a call without a cap on its output has set aside what its gate usually writes', () => {
  const answerOf = (outputTokens: number) => {
    const usage = { prompt_tokens: 5, completion_tokens: outputTokens, total_tokens: 0 }
    return json(200, { ...(JSON.parse(CHAT_JSON) as object), usage })
  }
  const openGateway = (gates: GatewayScript['gates'], answers: readonly number[]) =>
    new InProcessGateway({ gates, upstream: answers.map(answerOf) })
  async function usualTokensAfter(gateway: InProcessGateway, body: object): Promise<unknown> {
    expect((await gateway.ask({ path: CHAT, body })).status).toBe(200)
    return gateway.limits.tickets.at(-1)?.call.usualTokens
  }

  test('long answers are heeded sooner than short ones', async () => {
    const gateway = openGateway({ [GATE]: [TARGET] }, [4_000, 8_000, 1_200, 1])
    const seen = []
    for (let call = 0; call < 4; call += 1) seen.push(await usualTokensAfter(gateway, chatBody()))
    expect(seen).toEqual([500, 4_000, 6_000, 5_700])
    await gateway.assertNothingIsLeft()
  })

  test('each gate by itself, and for each answer that is asked for', async () => {
    const gateway = openGateway({ [GATE]: [TARGET], other: [TARGET] }, [4_000, 1, 1])
    await usualTokensAfter(gateway, chatBody())
    expect(await usualTokensAfter(gateway, chatBody({ model: 'other' }))).toBe(500)
    expect(await usualTokensAfter(gateway, chatBody({ n: 3 }))).toBe(12_000)
    await gateway.assertNothingIsLeft()
  })

  test('nobody teaches it that answers are short, by many at once or by leaving', async () => {
    const gateway = openGateway({ [GATE]: [TARGET] }, [4_000, 1, 1])
    await usualTokensAfter(gateway, chatBody())
    // A target without `n` gives one answer.
    await usualTokensAfter(gateway, chatBody({ n: 1_000 }))
    gateway.upstream.script([SILENCE])
    gateway.upstream.script([...answerOf(1)])
    expect(await usualTokensAfter(gateway, chatBody())).toBe(4_000)
    await gateway.ask({ path: CHAT, body: chatBody() }, { leavesAfterMs: 100 })
    expect(await usualTokensAfter(gateway, chatBody())).toBe(3_751)
    await gateway.assertNothingIsLeft()
  })

  test('no number of answers makes it anything but a number', async () => {
    const gateway = openGateway({ [GATE]: [TARGET] }, [0, 1])
    await usualTokensAfter(gateway, chatBody())
    const body = JSON.stringify(chatBody({ n: 1 })).replace('"n":1', '"n":1e400')
    expect((await gateway.ask({ path: CHAT, body })).status).toBe(200)
    expect(gateway.limits.tickets.at(-1)?.call.usualTokens).toBe(0)
    await gateway.assertNothingIsLeft()
  })

  test.each([
    [CHAT, 'max_output_tokens', TARGET],
    ['/alt/v1/chat/completions', 'max_completion_tokens', 'mistral/mistral-large'],
    ['/alt/v1/fim/completions', 'max_output_tokens', 'mistral/codestral'],
  ])('%s: %s is no cap there', async (path, name, target) => {
    const gateway = new InProcessGateway({ gates: { [GATE]: [target] }, upstream: [json(500, {})] })
    const body = {
      model: GATE,
      messages: [{ role: 'user', content: 'hi' }],
      input: 'hi',
      prompt: 'hi',
    }
    await gateway.ask({ path, body: { ...body, [name]: 1 } })
    expect(gateway.limits.tickets[0]?.call.usualTokens).toBe(500)
  })

  test('and nothing is learned from a call that names one', async () => {
    const gateway = openGateway({ [GATE]: [TARGET] }, [4_000, 1])
    expect(await usualTokensAfter(gateway, chatBody({ max_tokens: 9_000 }))).toBe(0)
    expect(await usualTokensAfter(gateway, chatBody())).toBe(500)
    await gateway.assertNothingIsLeft()
  })
})
