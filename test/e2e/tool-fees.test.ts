/**
 * Searches that a vendor runs and charges for, over the real program and with the vendors' own SDKs:
 * what a budget in money, the log and its costs say of them.
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { controlPlaneCall, createGate, createKey, listLogRows } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      searching: 'openai/gpt-5',
      azure: 'azure-openai/gpt-5',
      claude: 'anthropic/claude-opus-4-5',
    },
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

const USAGE = {
  input_tokens: 1000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 100,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1100,
}
const search = (index: number) => ({
  type: 'web_search_call',
  id: `ws_${index}`,
  status: 'completed',
  action: { type: 'search', query: 'q' },
})
const response = (output: readonly object[], usage: object | null = USAGE) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5',
  output,
  usage,
})
const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, ...members })}\n\n`

async function control<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await controlPlaneCall(scene.gatehouse, method, path, body)
  expect({ path, status: answer.status }).toEqual({
    path,
    status: method === 'POST' && path !== '/v1/costs/verify' ? 201 : 200,
  })
  return (await answer.json()) as Answer
}

interface Costs {
  readonly id: string
  readonly cost: {
    readonly usd: number
    readonly status: string
    readonly source: string
    readonly parts:
      | readonly { readonly kind: string; readonly count: number; readonly usd: number }[]
      | null
  }
}

/** The newest call of the gate that a target was asked in. */
function costOf(gateId: string): Promise<Costs['cost']> {
  return pollUntil(`the cost of a call of ${gateId}`, async () => {
    const row = (await listLogRows(scene.gatehouse)).find(
      (each) => each.gateId === gateId && each.target !== null,
    )
    return row && (await control<Costs>('GET', `/v1/logs/${row.id}`)).cost
  })
}

/** A key with a budget in US dollars, which refuses what has no price. */
async function spender(limitUsd: number) {
  const { key, id: keyId } = await createKey(scene.gatehouse, 'spender')
  const { id } = await control<{ id: string }>('POST', '/v1/budgets', {
    keyId,
    limitUsd,
    period: 'total',
  })
  const usedUsd = async () =>
    (await control<{ used: { usd: number } }>('GET', `/v1/budgets/${id}`)).used.usd
  const { url } = scene.gatehouse
  return {
    usedUsd,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }),
  }
}

const asked = { model: 'searching', input: 'hi', tools: [{ type: 'web_search' as const }] }

test('a budget of a dollar ends when searches have used it up, and the log says so', async () => {
  const { openai, usedUsd } = await spender(1)
  const items = Array.from({ length: 40 }, (_, index) => search(index))
  scene.upstream.answer(jsonAnswer(200, response(items)))
  for (let call = 0; call < 3; call += 1) await openai.responses.create(asked)
  // Three times 40 searches at a cent, and tokens for a fraction of one.
  expect(await usedUsd()).toBeCloseTo(3 * (0.4 + 0.00225), 6)
  const refused = await openai.responses.create(asked).catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 429, code: 'insufficient_quota' })
  expect(scene.upstream.requests).toHaveLength(3)
  const cost = await costOf('searching')
  expect(cost).toMatchObject({ usd: 0.40225, status: 'estimated' })
  expect(cost.source).toEndWith('+webSearch:40@10000')
  expect(cost.parts?.at(-1)).toMatchObject({ kind: 'webSearch', count: 40, usd: 0.4 })
})

test('a client that leaves in the middle of a stream pays for the searches until then', async () => {
  const { openai, usedUsd } = await spender(1)
  scene.upstream.answer(
    streamAnswer(
      [
        event('response.created', { response: response([], null) }),
        event('response.output_item.done', { output_index: 0, item: search(0) }),
        event('response.output_item.added', {
          output_index: 1,
          item: { type: 'web_search_call', id: 'ws_1', status: 'in_progress' },
        }),
        event('response.output_item.added', {
          output_index: 2,
          item: { type: 'web_search_call', id: 'ws_2', status: 'in_progress' },
        }),
      ],
      { ending: 'hang' },
    ),
  )
  const stream = await openai.responses.create({ ...asked, stream: true })
  let seen = 0
  for await (const _ of stream) {
    seen += 1
    if (seen === 4) break
  }
  stream.controller.abort()
  const used = await pollUntil('its cost', async () => (await usedUsd()) || undefined)
  expect(used).toBeGreaterThanOrEqual(0.02)
  expect(used).toBeLessThan(0.021)
})

test('searches in Messages are charged as reported, in a stream too', async () => {
  const { anthropic, usedUsd } = await spender(1)
  const start = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }
  const usage = { input_tokens: 1000, output_tokens: 1, cache_creation_input_tokens: 0 }
  const block = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  scene.upstream.answer(
    streamAnswer([
      event('message_start', { message: { ...start, stop_reason: null, usage } }),
      ...[0, 1, 2].flatMap((index) => [
        event('content_block_start', { index, content_block: block }),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 100, server_tool_use: { web_search_requests: 2 } },
      }),
      event('message_stop', {}),
    ]),
  )
  const message = await anthropic.messages
    .stream({
      model: 'claude',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    })
    .finalMessage()
  expect(message.usage.server_tool_use).toMatchObject({ web_search_requests: 2 })
  expect(await usedUsd()).toBeCloseTo(0.02 + 0.005 + 0.0025, 6)
  expect((await costOf('claude')).parts?.at(-1)).toMatchObject({ kind: 'webSearch', count: 2 })
})

test('searches that calls under way may make are set aside, before anything was used', async () => {
  const { openai, usedUsd } = await spender(0.02)
  const answer = Promise.withResolvers<void>()
  scene.upstream.answer(async (exchange) => {
    await answer.promise
    await jsonAnswer(200, response([]))(exchange)
  })
  const underWay = [openai.responses.create(asked), openai.responses.create(asked)]
  await pollUntil('both under way', async () => scene.upstream.requests.length === 2 || undefined)
  const refused = await openai.responses.create(asked).catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  answer.resolve()
  await Promise.all(underWay)
  // They did not search: what was set aside came back.
  expect(await usedUsd()).toBeCloseTo(2 * 0.00225, 6)
  await openai.responses.create(asked)
})

test('a tool without a published fee costs nothing until it is used, then its usual fee', async () => {
  const { openai, usedUsd } = await spender(1)
  const offered = {
    ...asked,
    tools: [{ type: 'code_interpreter' as const, container: { type: 'auto' as const } }],
  }
  scene.upstream.answer(jsonAnswer(200, response([])))
  await openai.responses.create(offered)
  expect(await usedUsd()).toBeCloseTo(0.00225, 6)
  const ran = { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', outputs: [] }
  scene.upstream.answer(jsonAnswer(200, response([ran])))
  await openai.responses.create(offered)
  expect(await usedUsd()).toBeCloseTo(2 * 0.00225 + 0.03, 6)
  const cost = await pollUntil('the row', async () => {
    const newest = await costOf('searching')
    return newest.parts?.at(-1)?.kind === 'codeInterpreter' ? newest : undefined
  })
  expect(cost.status).toBe('estimated')
  expect(cost.parts?.at(-1)).toMatchObject({ kind: 'codeInterpreter', count: 1, usd: 0.03 })
})

test('a search at a vendor that publishes no fee passes a budget in money', async () => {
  const { openai, usedUsd } = await spender(1)
  scene.upstream.answer(jsonAnswer(200, response([])))
  await openai.responses.create({ ...asked, model: 'azure' })
  const tokens = await usedUsd()
  expect(tokens).toBeGreaterThan(0)
  scene.upstream.answer(jsonAnswer(200, response([search(0)])))
  await openai.responses.create({ ...asked, model: 'azure' })
  expect(await usedUsd()).toBeCloseTo(2 * tokens + 0.014, 6)
})

test('an account’s own model pays for no search, whatever it reports', async () => {
  scene.upstream.answer(jsonAnswer(200, response([])))
  await control('POST', '/v1/owned-models', {
    slug: 'mine',
    dialect: 'openai-responses',
    baseUrl: `${scene.upstream.url}/v1`,
    upstreamModelId: 'm',
    credential: 'c',
    pricingInput: 100,
    pricingOutput: 200,
  })
  await createGate(scene.gatehouse, 'mine', 'owned/mine')
  const { openai, usedUsd } = await spender(1)
  const items = Array.from({ length: 1000 }, (_, index) => search(index))
  scene.upstream.answer(jsonAnswer(200, response(items)))
  await openai.responses.create({ ...asked, model: 'mine' })
  expect(await usedUsd()).toBeCloseTo(0.0012, 6)
  expect((await costOf('mine')).source).toBe('owned-model@100/100/200')
})

test('costs with searches in them are the same when they are computed again', async () => {
  expect((await listLogRows(scene.gatehouse)).length).toBeGreaterThan(4)
  const verified = await control<{ differences: unknown[]; incomparable: unknown[] }>(
    'POST',
    '/v1/costs/verify',
    {},
  )
  expect(verified).toMatchObject({ differences: [], incomparable: [] })
})
