import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

function post(body: object) {
  const headers = { authorization: 'Bearer any' }
  return fetch(`${sandbox.url}/v1/responses`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}

async function refusalOf(answer: Response) {
  const { error } = (await answer.json()) as {
    error: { message: string; code: string | null; param: string | null }
  }
  return { status: answer.status, ...error }
}

const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'c1', output: 'x' }
const REFUSED: readonly (readonly [string, object, number, string | null, string | null])[] = [
  ['an unknown parameter', { gate_id: 'g' }, 400, 'unknown_parameter', 'gate_id'],
  ['a wrong type', { stream: 'yes' }, 400, 'invalid_type', 'stream'],
  [
    'a limit below 16',
    { max_output_tokens: 5 },
    400,
    'integer_below_min_value',
    'max_output_tokens',
  ],
  ['a temperature above 2', { temperature: 3 }, 400, 'decimal_above_max_value', 'temperature'],
  ['no input', { input: null }, 400, 'missing_required_parameter', 'input'],
  [
    'a previous response',
    { previous_response_id: 'resp_1' },
    400,
    'previous_response_not_found',
    'previous_response_id',
  ],
  ['a conversation', { conversation: 'conv_1' }, 404, null, 'conversation'],
  ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 404, null, 'prompt'],
  ['an item reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 404, null, 'input'],
  ['an output without its call', { input: [output] }, 400, null, 'input'],
  ['an output before its call', { input: [output, call] }, 400, null, 'input'],
  ['a call without its output', { input: [call] }, 400, null, 'input'],
  [
    'an unknown role',
    { input: [{ role: 'robot', content: 'x' }] },
    400,
    'invalid_value',
    'input[0].role',
  ],
  ['an unknown include', { include: ['everything'] }, 400, 'invalid_value', 'include[0]'],
  [
    'encrypted reasoning of a model that has none',
    { include: ['reasoning.encrypted_content'] },
    400,
    null,
    'include',
  ],
  [
    'a temperature for a reasoning model',
    { model: 'echo-reasoning', temperature: 1 },
    400,
    null,
    'temperature',
  ],
  [
    'a tool choice that is not offered',
    { tool_choice: { type: 'function', name: 'f' } },
    400,
    null,
    'tool_choice',
  ],
  [
    'a reasoned item without its reasoning',
    { input: [{ ...call, id: `fc_${'a'.repeat(45)}0r01` }, output] },
    400,
    null,
    'input',
  ],
]
for (const [name, members, status, code, param] of REFUSED) {
  test(`refuses ${name}`, async () => {
    const refusal = await refusalOf(await post({ model: 'echo', input: 'Hi', ...members }))
    expect(refusal).toMatchObject({ status, code, param, type: 'invalid_request_error' })
    expect(refusal.message.length).toBeGreaterThan(10)
  })
}

test('an orphaned output is named by its call id', async () => {
  const { message } = await refusalOf(await post({ model: 'echo', input: [output] }))
  expect(message).toBe('No tool call found for function call output with call_id c1.')
})

test('the vendor’s own parameters pass, nulls too, and the lenient model takes anything', async () => {
  const known = {
    client_metadata: { a: 1 },
    prompt_cache_key: 'k',
    safety_identifier: 's',
    previous_response_id: null,
    store: null,
  }
  expect((await post({ model: 'echo', input: 'Hi', ...known })).status).toBe(200)
  const odd = {
    gate_id: 'g',
    big: 1e300,
    max_output_tokens: 1e20,
    temperature: 99,
    include: ['reasoning.encrypted_content'],
  }
  expect((await post({ model: 'echo-lenient', input: 'Hi', ...odd })).status).toBe(200)
})
