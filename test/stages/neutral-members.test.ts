/** Members without effect, which clients send with every call: no target refuses them. */
import { describe } from 'bun:test'
import { CHAT_JSON, MESSAGES_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { json, type Script } from '../support/scripted-upstream.ts'
import { CHAT, GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const ANSWERS: Readonly<Record<string, Script>> = {
  chat: json(200, CHAT_JSON),
  messages: json(200, MESSAGES_JSON),
  responses: json(200, RESPONSES_JSON),
}

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/google-token.ts')

interface Neutral {
  readonly path: string
  readonly body: object
  readonly members: readonly object[]
  readonly targets: Readonly<Record<string, string>>
}

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ENDPOINTS: Readonly<Record<string, Neutral>> = {
  chat: {
    path: CHAT,
    body: { model: GATE, messages: MESSAGES },
    members: [
      { n: 1 },
      { store: false },
      { tools: [] },
      { models: [] },
      { models: null, fallbacks: [], preset: '', data_sources: [] },
      { plugins: [], web_search_options: null, search_parameters: null },
      { service_tier: null },
      { service_tier: 'auto', presence_penalty: 0, frequency_penalty: 0, logprobs: false },
      { modalities: null },
      { modalities: [] },
      { metadata: {}, logit_bias: null },
    ],
    targets: {
      'openai/gpt-4o': 'chat',
      'azure-openai/gpt-4o': 'chat',
      'openrouter/openai/gpt-4o': 'chat',
      'anthropic/claude-opus-4-8': 'messages',
    },
  },
  responses: {
    path: '/v1/responses',
    body: { model: GATE, input: 'hi' },
    members: [
      { store: false },
      { background: false },
      { tools: [], include: [] },
      { conversation: '' },
      { previous_response_id: null, conversation: null, prompt: null },
      { service_tier: 'default' },
      { truncation: 'disabled', metadata: {} },
    ],
    targets: { 'openai/gpt-5': 'responses', 'azure-openai/gpt-5': 'responses' },
  },
  messages: {
    path: '/v1/messages',
    body: { model: GATE, max_tokens: 9, messages: MESSAGES },
    members: [
      { mcp_servers: [] },
      { mcp_servers: [], container: null, thread: null },
      { fallbacks: [], tools: [] },
      { service_tier: 'auto', inference_geo: null, speed: 'standard' },
      { stop_sequences: [], metadata: {} },
    ],
    targets: {
      'anthropic/claude-opus-4-8': 'messages',
      'vertex-anthropic/claude-opus-4-8': 'messages',
      'openai/gpt-4o': 'chat',
    },
  },
}

const DEMAND = { budget: 'the budget b (bud_1)', plan: 'the plan team' }

function rows({ path, body, members, targets }: Neutral): readonly StageRow[] {
  return Object.entries(targets).flatMap(([target, answer]) =>
    members.map(
      (extra): StageRow => ({
        name: `${JSON.stringify(extra)} is sent to ${target}`,
        gateway: { gates: { [GATE]: [target] }, limits: { priceDemand: DEMAND } },
        request: { path, body: { ...body, ...extra }, headers: { 'x-gatehouse-strict': 'true' } },
        upstream: [ANSWERS[answer] ?? []],
        seen: { status: 200 },
        sent: [{}],
        settled: { outcome: 'succeeded' },
      }),
    ),
  )
}

describe('a member that asks for something', () => {
  runRows(
    [{ metadata: { a: 'b' } }, { n: 2 }, { service_tier: 'flex' }].map((members) => ({
      name: `is still refused for a strict caller: ${JSON.stringify(members)}`,
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-4-8'] } },
      request: {
        body: { model: GATE, messages: MESSAGES, ...members },
        headers: { 'x-gatehouse-strict': 'true' },
      },
      seen: { status: 400, json: { error: { code: 'unsupported_parameter' } } },
      settled: { outcome: 'failed' as const },
    })),
  )
})

for (const [name, endpoint] of Object.entries(ENDPOINTS))
  describe(`under limits in money, for a strict caller of ${name},`, () => runRows(rows(endpoint)))

describe('a member that asks for nothing', () => {
  runRows(
    [{ n: 1 }, { store: false }, { logit_bias: {} }].map((members) => ({
      name: `is not named as ignored: ${JSON.stringify(members)}`,
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-4-8'] } },
      request: { body: { model: GATE, messages: MESSAGES, ...members } },
      upstream: [ANSWERS.messages ?? []],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null } },
      sent: [{}],
      settled: { outcome: 'succeeded' as const },
    })),
  )
})
