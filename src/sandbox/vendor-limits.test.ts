import { afterAll, describe, expect, test } from 'bun:test'
import { ONLY_REFUSED, REFUSED_REQUESTS } from '../../test/support/refused-requests.ts'
import { startSandbox } from './start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

function post(path: string, body: object): Promise<Response> {
  const headers = {
    authorization: 'Bearer any',
    'x-goog-api-key': 'any',
    'anthropic-version': '2023-06-01',
  }
  return fetch(sandbox.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

interface RefusalBody {
  readonly message?: string
  readonly error?: { readonly message: string; readonly code?: string | null }
}

describe('a vendor refuses', () => {
  test.each([...REFUSED_REQUESTS, ...ONLY_REFUSED])('$title', async (row) => {
    const answer = await post(row.vendorPath, row.vendorBody)
    const { message, error } = (await answer.json()) as RefusalBody
    expect(message ?? error?.message).toContain(row.message)
    expect(answer.status).toBe(400)
  })

  const tool = { name: 'look', parameters: { type: 'object', properties: { a: {}, b: {} } } }
  const closed = { ...tool.parameters, additionalProperties: false, required: ['a'] }
  test.each([
    ['a strict tool that is open', tool.parameters, "'additionalProperties' is required"],
    ['a strict tool with an optional property', closed, "Missing 'b'."],
  ])('%s at OpenAI', async (_title, parameters, words) => {
    const strict = { ...tool, parameters, strict: true }
    for (const [path, body] of [
      ['/v1/responses', { input: 'hi', tools: [{ type: 'function', ...strict }] }],
      ['/v1/chat/completions', { messages: HI, tools: [{ type: 'function', function: strict }] }],
    ] as const) {
      const answer = await post(path, { model: 'gpt-4o', ...body })
      const { error } = (await answer.json()) as RefusalBody
      expect([answer.status, error?.code]).toEqual([400, 'invalid_function_parameters'])
      expect(error?.message).toContain(words)
    }
  })

  test.each([
    { temperature: 0.5 },
    { presence_penalty: 0.1 },
    { frequency_penalty: 0.1 },
    { logprobs: true },
    { top_logprobs: 2 },
    { max_tokens: 64 },
  ])('%p at a reasoning model of OpenAI', async (members) => {
    for (const model of ['gpt-5', 'o3']) {
      const answer = await post('/v1/chat/completions', { model, messages: HI, ...members })
      const { error } = (await answer.json()) as RefusalBody
      expect(error?.message).toMatch(/^Unsupported (?:parameter|value): /)
      expect(answer.status).toBe(400)
    }
    const answer = await post('/v1/chat/completions', { model: 'gpt-4o', messages: HI, ...members })
    expect(answer.status).toBe(200)
  })
})

const HI = [{ role: 'user', content: 'hi' }]

test('the lenient model takes all that a vendor refuses for its value', async () => {
  const rows = REFUSED_REQUESTS.filter(({ vendorPath }) => vendorPath === '/v1/responses')
  for (const { vendorPath, vendorBody } of rows) {
    const answer = await post(vendorPath, { ...vendorBody, model: 'echo-lenient' })
    expect(answer.status).toBe(200)
  }
})

test('a thinking budget within the range is accepted, and -1 leaves the choice to Gemini', async () => {
  const ask = async (model: string, thinkingBudget: number) =>
    (
      await post(`/gemini/v1beta/models/${model}:generateContent`, {
        contents: [{ parts: [{ text: 'hi' }] }],
        generationConfig: { thinkingConfig: { thinkingBudget } },
      })
    ).status
  for (const budget of [0, -1, 1, 24_576]) expect(await ask('gemini-2.5-flash', budget)).toBe(200)
  for (const budget of [-1, 128, 32_768]) expect(await ask('gemini-2.5-pro', budget)).toBe(200)
  expect(await ask('gemini-2.5-pro', 127)).toBe(400)
})
