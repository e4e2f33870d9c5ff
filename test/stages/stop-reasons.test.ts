import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Ulm"}' },
}
const USAGE = { prompt_tokens: 9, completion_tokens: 5 }
const sse = (data: object) => `data: ${JSON.stringify(data)}\n\n`

const chatAnswer = (message: object, finish_reason: string, isStream: boolean) => {
  if (!isStream) return json(200, { id: 'c', choices: [{ message, finish_reason }], usage: USAGE })
  const calls = (message as { tool_calls?: readonly object[] }).tool_calls
  const indexed = calls?.map((call, index) => ({ index, ...call }))
  const choice = (delta: object, reason: string | null) =>
    sse({ id: 'c', choices: [{ index: 0, delta, finish_reason: reason }] })
  return stream([
    choice({ ...message, ...(indexed && { tool_calls: indexed }) }, null),
    choice({}, finish_reason),
    'data: [DONE]\n\n',
  ])
}

const geminiAnswer = (parts: readonly object[], finishReason: string, isStream: boolean) => {
  const body = {
    candidates: [{ content: { role: 'model', parts }, finishReason }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 },
  }
  return isStream ? stream([sse(body)]) : json(200, body)
}

const CALLERS = [
  {
    path: '/v1/messages',
    body: { max_tokens: 99, tools: [{ name: 'weather', input_schema: { type: 'object' } }] },
    whole: (answer: { stop_reason: string }) => answer.stop_reason,
    last: 'message_delta',
    streamed: (event: { delta: { stop_reason: string } }) => event.delta.stop_reason,
    words: { calls: 'tool_use', stop: 'end_turn' },
  },
  {
    path: '/v3/chat',
    body: { tools: [{ name: 'weather', parameters: { type: 'object' } }] },
    whole: (answer: { finish_reason: string }) => answer.finish_reason,
    last: 'chat.completed',
    streamed: (event: { finish_reason: string }) => event.finish_reason,
    words: { calls: 'tool_calls', stop: 'stop' },
  },
] as const

const own = (key: string) => ({ secret: new Secret(key), owner: 'account' as const })

async function ask(
  target: string,
  answer: ReturnType<typeof json>,
  { path, body }: (typeof CALLERS)[number],
  isStream: boolean,
) {
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    credentials: { vllm: own('planted-vllm'), gemini: own('planted-gemini') },
  })
  gateway.upstream.script(answer)
  const messages = [{ role: 'user', content: 'Ulm?' }]
  const gate = path === '/v3/chat' ? { gate_id: 'g' } : { model: 'g' }
  return await gateway.ask({ path, body: { ...gate, ...body, stream: isStream, messages } })
}

function reasonOf(text: string, caller: (typeof CALLERS)[number], isStream: boolean): string {
  if (!isStream) return caller.whole(JSON.parse(text))
  const data = parseEvents(text).find(({ event }) => event === caller.last)?.data
  return caller.streamed(JSON.parse(data ?? ''))
}

const FORMS = CALLERS.flatMap((caller) =>
  [false, true].map((isStream) => ({ ...caller, caller, isStream })),
)

describe.each(FORMS)('$path, streamed: $isStream', ({ caller, isStream }) => {
  test.each([
    ['calls beside "stop"', { content: null, tool_calls: [CALL] }, 'stop', 'calls'],
    ['"tool_calls" without a call', { content: 'Rain.' }, 'tool_calls', 'stop'],
    ['a word that nobody knows', { content: 'Rain.' }, 'eos', 'stop'],
  ] as const)('%s gets the reason that fits', async (_, message, reason, word) => {
    const answer = chatAnswer({ role: 'assistant', ...message }, reason, isStream)
    const { status, text } = await ask('vllm/qwen3', answer, caller, isStream)
    expect(status).toBe(200)
    expect(reasonOf(text, caller, isStream)).toBe(caller.words[word])
  })

  test.each(['OTHER', 'MALFORMED_FUNCTION_CALL', 'MISSING_THOUGHT_SIGNATURE', 'A_LATER_ONE'])(
    'an answer that Gemini ends with %s is a failure',
    async (reason) => {
      const answer = geminiAnswer([{ text: 'Rain' }], reason, isStream)
      const { status, text } = await ask('gemini/gemini-3-pro', answer, caller, isStream)
      expect(text).toContain(`ended its answer with ${reason}`)
      if (isStream) expect(parseEvents(text).at(-1)?.event).toBe('error')
      else expect(status).toBe(502)
    },
  )
})
