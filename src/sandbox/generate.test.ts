import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startSandbox } from './start-sandbox.ts'

const sandbox = startSandbox({ requireKey: false })
afterAll(() => sandbox.stop())

const hi = [{ role: 'user', content: 'a' }]

/** Bodies with answer 200, in which the tests replace members. */
const BASES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/v1/responses': {
    input: 'a',
    tools: [],
    tool_choice: null,
    reasoning: null,
    include: null,
    text: null,
    stream: true,
    stream_options: null,
    max_output_tokens: null,
    prompt: null,
    conversation: null,
  },
  '/v1/chat/completions': {
    messages: hi,
    tools: [],
    tool_choice: null,
    response_format: null,
    stream: true,
    stream_options: null,
    n: 1,
    stop: null,
    max_tokens: null,
  },
  '/v1/fim/completions': { prompt: 'a', suffix: null, stop: null, max_tokens: null, stream: true },
  '/mistral/v1/chat/completions': {
    messages: hi,
    tools: [],
    tool_choice: null,
    response_format: null,
    n: 1,
    stop: null,
    stream: true,
  },
}

/** Values close enough to real values to pass the first check. */
const word = fc.constantFrom(
  'message',
  'function',
  'function_call',
  'function_call_output',
  'reasoning',
  'user',
  'tool',
  'assistant',
  'json_schema',
  'a',
  '',
  'string',
)
const member = fc.constantFrom(
  'type',
  'role',
  'content',
  'name',
  'call_id',
  'arguments',
  'output',
  'id',
  'function',
  'parameters',
  'schema',
  'format',
  'tool_calls',
  'properties',
  'items',
  '$ref',
  'anyOf',
  'enum',
  'encrypted_content',
  'json_schema',
  '__proto__',
  'constructor',
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    word,
    fc.constantFrom(0, 1, -1, 1.5, 1e300, true, false, null, '#', 'x y'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(member, tie('value'), { maxKeys: 4 }),
  ),
}))

function post(path: string, body: unknown) {
  return fetch(sandbox.url + path, { method: 'POST', body: JSON.stringify(body) })
}

const model = fc.constantFrom('echo', 'echo', 'echo-lenient', 'codestral', 'echo-reasoning')

for (const [path, base] of Object.entries(BASES)) {
  test(`${path}: whatever the body, the answer is an answer or a refusal, never a failure`, async () => {
    expect((await post(path, { ...base, model: 'echo' })).status).toBe(200)
    const replaced = fc.array(fc.tuple(fc.constantFrom(...Object.keys(base)), value), {
      minLength: 1,
      maxLength: 2,
    })
    await fc.assert(
      fc.asyncProperty(model, replaced, async (name, members) => {
        const answer = await post(path, { ...base, ...Object.fromEntries(members), model: name })
        expect([200, 400, 404, 422]).toContain(answer.status)
        expect((await answer.text()).length).toBeGreaterThan(10)
      }),
      { numRuns: 200 },
    )
  })
}

test('a tool is called with a JSON object, whatever its schema', async () => {
  await fc.assert(
    fc.asyncProperty(value, async (parameters) => {
      const tools = [{ type: 'function', name: 'a', parameters }]
      const answer = await post('/v1/responses', {
        model: 'echo-lenient',
        input: 'a',
        tools,
        tool_choice: 'required',
      })
      const { output } = (await answer.json()) as { output: { arguments: string }[] }
      expect(output[0]?.arguments).toStartWith('{')
      expect(() => JSON.parse(output[0]?.arguments ?? '')).not.toThrow()
    }),
    { numRuns: 200 },
  )
})
