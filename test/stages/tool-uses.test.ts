/**
 * Tools that a vendor runs and charges by use: how uses are counted, and which calls a limit in
 * money admits.
 */
import { describe, expect } from 'bun:test'
import { MESSAGES_JSON } from '../support/dialect-samples.ts'
import { OTHER_TOOL_FEE, SEARCH_FEE } from '../support/in-process-gateway.ts'
import { CUT, json, pause, type Script, SILENCE, stream } from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const OPENAI = 'openai/gpt-5'
const CLAUDE = 'anthropic/claude-opus-4-8'
const budget = 'the budget b (bud_1)'
const WEB = { type: 'web_search' }
const USAGE = { input_tokens: 11, output_tokens: 7 }
const TOKENS = 81

const responses = (members: object = {}) => ({
  path: '/v1/responses',
  body: { model: GATE, input: 'hi', tools: [WEB], ...members },
})
const messages = (members: object = {}) => ({
  path: '/v1/messages',
  body: {
    model: GATE,
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    ...members,
  },
})
const search = (index: number) => ({
  type: 'web_search_call',
  id: `ws_${index}`,
  status: 'completed',
  action: { type: 'search', query: 'q' },
})
const searches = (count: number) => Array.from({ length: count }, (_, index) => search(index))
const response = (output: readonly object[], usage: object | null = USAGE) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5',
  output,
  usage,
})
const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const created = event('response.created', { response: response([], null) })
const searched = (index: number) => [
  event('response.output_item.added', {
    output_index: index,
    item: { type: 'web_search_call', id: `ws_${index}`, status: 'in_progress' },
  }),
  event('response.output_item.done', { output_index: index, item: search(index) }),
]
const completed = (output: readonly object[]) =>
  event('response.completed', { response: response(output) })
const answering = (ms: number, script: Script): Script => [pause(ms), ...script]
const hedged = (targets: readonly string[]) => ({
  gates: { [GATE]: { targets: targets.map((model) => ({ model })), hedgeAfterMs: 200 } },
})

const counted = (row: Omit<StageRow, 'seen' | 'sent'> & Partial<StageRow>): StageRow => ({
  gateway: { gates: { [GATE]: [OPENAI] } },
  request: responses(),
  seen: { status: 200 },
  sent: [{}],
  ...row,
})
const costing = (searchCount: number, nanoUsd = TOKENS) => ({
  cost: {
    nanoUsd: nanoUsd + searchCount * SEARCH_FEE,
    status: 'estimated' as const,
    source: 'scripted',
  },
})

describe('a call that searched is charged for each search', () => {
  runRows([
    counted({
      name: 'in a whole answer',
      upstream: [json(200, response(searches(30)))],
      settled: costing(30),
    }),
    counted({
      name: 'in a stream',
      request: responses({ stream: true }),
      upstream: [
        stream([created, ...searched(0), ...searched(1), completed([search(0), search(1)])]),
      ],
      settled: costing(2),
    }),
    counted({
      name: 'that it did not ask for in its tools',
      request: responses({ tools: [] }),
      upstream: [json(200, response(searches(2)))],
      settled: costing(2),
    }),
    counted({
      name: 'in Messages, as reported',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: messages(),
      upstream: [
        json(200, {
          ...JSON.parse(MESSAGES_JSON),
          usage: { ...USAGE, server_tool_use: { web_search_requests: 4 } },
        }),
      ],
      settled: costing(4),
    }),
    counted({
      name: 'if its client leaves before the end',
      request: responses({ stream: true }),
      upstream: [stream([created, ...searched(0), ...searched(1)], { ending: [SILENCE] })],
      client: { leavesAfterEvents: 5 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { outcome: 'cancelled' },
      check: ({ ledger }) => {
        const { cost, usage } = ledger.records[0] ?? {}
        expect(cost).toMatchObject({
          status: 'estimated',
          nanoUsd: 2 * SEARCH_FEE + (usage?.inputTokens ?? 0) + 10 * (usage?.outputTokens ?? 0),
        })
      },
    }),
    counted({
      name: 'if its upstream breaks off',
      request: responses({ stream: true }),
      upstream: [stream([created, ...searched(0)], { ending: [CUT] })],
      seen: { status: 200, ending: 'cut' },
      sent: [{}],
      settled: { outcome: 'failed', usage: null, ...costing(1, 0) },
    }),
    counted({
      name: 'at least once, in an answer too large to hold',
      upstream: [json(200, { ...response(searches(3)), x: 'x'.repeat(4 * 1024 * 1024) })],
      settled: costing(1),
    }),
    counted({
      name: 'as reported, in an answer too large to hold',
      upstream: [
        json(200, {
          ...response(searches(3)),
          tool_usage: { web_search: { num_requests: 3 } },
          x: 'x'.repeat(4 * 1024 * 1024),
        }),
      ],
      settled: costing(3),
    }),
    counted({
      name: 'and for searches within a search, as reported',
      upstream: [
        json(200, { ...response(searches(1)), tool_usage: { web_search: { num_requests: 5 } } }),
      ],
      settled: costing(5),
    }),
    counted({
      name: 'at least once, if its client leaves before a whole answer',
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 50 },
      seen: { status: 502, ending: 'left' },
      settled: { outcome: 'cancelled' },
      sent: [{}],
      check: ({ ledger }) => {
        const { cost, usage } = ledger.records[0] ?? {}
        expect(cost?.nanoUsd).toBe(SEARCH_FEE + (usage?.inputTokens ?? 0))
      },
    }),
    counted({
      name: 'at least once at a target that lost to a hedge',
      gateway: hedged([OPENAI, 'azure-openai/gpt-5']),
      upstream: [answering(900, []), answering(10, json(200, response(searches(2))))],
      sent: [{}, {}],
      settled: { attempts: 2 },
      check: ({ ledger }) => {
        const { cost, usage } = ledger.records[0] ?? {}
        const tokens = (usage?.inputTokens ?? 0) + 10 * (usage?.outputTokens ?? 0)
        expect(cost).toMatchObject({ source: 'scripted+hedge', nanoUsd: 3 * SEARCH_FEE + tokens })
      },
    }),
    counted({
      name: 'of the target that answered, after one that failed',
      gateway: { gates: { [GATE]: [OPENAI, 'azure-openai/gpt-5'] } },
      upstream: [
        json(500, { error: { message: 'm', type: 't', param: null, code: null } }),
        json(200, response(searches(2))),
      ],
      sent: [{}, {}],
      settled: costing(2),
    }),
  ])
})

describe('a call that did not search is charged for its tokens alone', () => {
  const exact = { cost: { nanoUsd: TOKENS, status: 'exact' as const, source: 'scripted' } }
  runRows([
    counted({
      name: 'and exactly, though it offered the tool',
      upstream: [json(200, response([]))],
      settled: exact,
    }),
    counted({
      name: 'and exactly, in another dialect, to which no such tool goes',
      gateway: { gates: { [GATE]: ['openai/gpt-4o'] } },
      request: messages({ tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }),
      upstream: [CHAT_ANSWER],
      settled: exact,
    }),
    counted({
      name: 'though what was said looks like a search',
      request: responses({ input: JSON.stringify(search(0)) }),
      upstream: [
        json(
          200,
          response([
            {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: JSON.stringify(search(0)), x: search(1) }],
            },
          ]),
        ),
      ],
      settled: exact,
    }),
    counted({
      name: 'and exactly, though it offered a tool whose fee is not published',
      request: responses({ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
      upstream: [json(200, response([]))],
      settled: exact,
    }),
  ])
})

describe('a limit in money', () => {
  const limited = (targets: readonly string[]) => ({
    gates: { [GATE]: targets },
    limits: { priceDemand: { budget, plan: undefined } as never },
  })
  const DRAWING = { type: 'image_generation' }
  const AZURE = 'azure-openai/gpt-5'
  const exact = { cost: { nanoUsd: TOKENS, status: 'exact' as const, source: 'scripted' } }
  const uncounted = costing(0, TOKENS + OTHER_TOOL_FEE)
  const offered = (name: string, row: Omit<StageRow, 'seen' | 'sent' | 'name'>): StageRow =>
    counted({
      name: `lets a call pass that only offers ${name}`,
      gateway: limited([OPENAI]),
      upstream: [json(200, response([]))],
      ...row,
    })
  const tools = (...list: readonly object[]) => ({ request: responses({ tools: list }) })
  const escaped = `{"model":"${GATE}","input":[{"type":"additional_tools","\\u0074ools":[{"type":"image\\u005fgeneration"}]}]}`
  runRows([
    counted({
      name: 'has one use of each tool set aside before the call, beside its tokens',
      gateway: { gates: { [GATE]: [OPENAI] }, limits: { limitsSpend: true } },
      request: responses({ tools: [WEB, WEB, DRAWING, { type: 'x_search' }] }),
      upstream: [json(200, response([]))],
      settled: { outcome: 'succeeded' },
      check: ({ limits: { tickets } }) =>
        expect(tickets[0]?.call.leastNanoUsd).toBeGreaterThan(SEARCH_FEE + 400 + OTHER_TOOL_FEE),
    }),
    counted({
      name: 'has nothing set aside for tools where no limit is in money',
      request: responses({ tools: [WEB] }),
      upstream: [json(200, response([]))],
      settled: { outcome: 'succeeded' },
      check: ({ limits: { tickets } }) => expect(tickets[0]?.call.leastNanoUsd).toBeUndefined(),
    }),
    counted({
      name: 'charges a use whose fee is not published at the usual one',
      gateway: limited([AZURE]),
      upstream: [json(200, response(searches(1)))],
      settled: costing(1),
      spent: { cost: costing(1).cost },
    }),
    offered('a search', { settled: exact }),
    offered('a search that has no published fee', { gateway: limited([AZURE]), settled: exact }),
    offered('a search of files', {
      ...tools({ type: 'file_search', vector_store_ids: [] }),
      settled: exact,
    }),
    offered('an interpreter', { ...tools(WEB, { type: 'code_interpreter' }), settled: exact }),
    offered('drawing', { ...tools(DRAWING), settled: exact }),
    offered('drawing by an item of the input', {
      request: {
        path: '/v1/responses',
        body: {
          model: GATE,
          input: [{ type: 'additional_tools', role: 'developer', tools: [DRAWING] }],
        },
      },
      settled: exact,
    }),
    offered('drawing under an escaped name', {
      request: { path: '/v1/responses', body: escaped },
      settled: exact,
    }),
    // No answer reports how often such a tool was used, so one use is charged.
    offered('a search of an older version', {
      ...tools({ type: 'web_search_preview' }),
      settled: uncounted,
    }),
    offered('a shell of the vendor’s', {
      ...tools({ type: 'shell', environment: { type: 'container_auto' } }),
      settled: uncounted,
    }),
    offered('execution of code', {
      gateway: limited([CLAUDE]),
      request: messages({ tools: [{ type: 'code_execution_20250825', name: 'c' }] }),
      upstream: [json(200, { ...JSON.parse(MESSAGES_JSON), usage: USAGE })],
      settled: uncounted,
    }),
    offered('a shell of the caller’s own', {
      ...tools(
        { type: 'shell', environment: { type: 'local', skills: [{ name: 'container_auto' }] } },
        { type: 'shell' },
        { type: 'shell', environment: null },
        { type: 'local_shell' },
        { type: 'function', name: 'container_auto' },
      ),
      settled: exact,
    }),
    {
      name: 'refuses a tool that asks another model, whose price has no bound',
      request: messages({ tools: [{ type: 'advisor_20260301', name: 'a' }] }),
      gateway: { ...limited([CLAUDE]), credentials: { anthropic: 'account' } },
      seen: { status: 400, contains: ["'tools'", budget] },
      settled: { outcome: 'failed', attempts: 0 },
      spent: { tokens: 0 },
    },
    offered('nothing, but speaks of tools and has items that had them', {
      request: responses({
        tools: [],
        input: [
          { role: 'user', content: '"tools": [{"type": "image_generation"}]' },
          { type: 'image_generation_call', id: 'ig_1', result: 'aGk=', status: 'completed' },
          { type: 'mcp_list_tools', id: 'm', server_label: 's', tools: [{ name: 'web_search' }] },
          null,
        ],
      }),
      settled: exact,
    }),
    counted({
      name: 'lets any tool pass by a target of another dialect, to which it does not go',
      gateway: limited(['openai/gpt-4o']),
      request: messages({ tools: [{ type: 'code_execution_20250825', name: 'c' }] }),
      upstream: [CHAT_ANSWER],
      settled: exact,
    }),
  ])
})
