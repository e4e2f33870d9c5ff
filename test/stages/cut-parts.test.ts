/**
 * A report with a part greater than its whole: the part counts up to the whole, the cost is an
 * estimate, and the caller gets the report unchanged.
 */
import { describe } from 'bun:test'
import { CallPrices } from '../../src/ledger/call-prices.ts'
import { PriceBook } from '../../src/ledger/price-book.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { pricingOf } from '../../src/providers/define.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const prices = new CallPrices(
  new PriceBook({
    providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
  }),
)
const USER = [{ role: 'user', content: 'hi' }]
const chat = { path: '/v1/chat/completions', body: { model: GATE, messages: USER } }
const streamedChat = { ...chat, body: { ...chat.body, stream: true } }
const messages = {
  path: '/v1/messages',
  body: { model: GATE, max_tokens: 9, messages: USER },
}
const responses = { path: '/v1/responses', body: { model: GATE, input: 'hi' } }

const CHAT_USAGE = {
  ...{ prompt_tokens: 56_322, completion_tokens: 9 },
  prompt_tokens_details: { cached_tokens: 72_960 },
}
const chatAnswer = json(200, {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-5', usage: CHAT_USAGE },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
})
const chunk = (members: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-5', choices: [], ...members })}\n\n`
const chatStream = stream([
  chunk({
    choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
  }),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  chunk({ usage: CHAT_USAGE }),
  'data: [DONE]\n\n',
])
const responsesAnswer = json(200, {
  ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-5' },
  output: [
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    },
  ],
  usage: {
    ...{ input_tokens: 56_322, output_tokens: 9 },
    input_tokens_details: { cached_tokens: 72_960 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
})
const geminiAnswer = json(200, {
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata: {
    ...{ promptTokenCount: 56_322, candidatesTokenCount: 9, cachedContentTokenCount: 72_960 },
  },
})

const cut = (
  name: string,
  target: string,
  request: NonNullable<StageRow['request']>,
  answer: Script,
): StageRow => ({
  name,
  gateway: { gates: { [GATE]: [target] }, prices },
  request,
  upstream: [answer],
  seen: { status: 200 },
  sent: [{}],
  settled: { outcome: 'succeeded' },
  check: ({ ledger }) => {
    const { usage, cost } = ledger.records[0] ?? {}
    const counted = `${usage?.cachedInputTokens} of ${usage?.inputTokens}, ${cost?.status}`
    if (counted !== '56322 of 56322, estimated') throw new Error(counted)
  },
})

describe('more cached input than input', () => {
  runRows([
    {
      ...cut('relayed', 'openai/gpt-5', chat, chatAnswer),
      seen: { status: 200, contains: ['"prompt_tokens":56322', '"cached_tokens":72960'] },
    },
    cut('relayed as a stream', 'openai/gpt-5', streamedChat, chatStream),
    cut('translated', 'groq/openai/gpt-oss-120b', messages, chatAnswer),
    cut('of Responses', 'openai/gpt-5', responses, responsesAnswer),
    cut('of Gemini', 'gemini/gemini-3-pro-preview', chat, geminiAnswer),
  ])
})
