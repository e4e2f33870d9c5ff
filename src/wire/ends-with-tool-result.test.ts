import { expect, test } from 'bun:test'
import { endsWithToolResult } from './ends-with-tool-result.ts'
import { scanJsonObject } from './json-splice.ts'

const ends = (body: object) => endsWithToolResult(scanJsonObject(Buffer.from(JSON.stringify(body))))
const user = { role: 'user', content: 'é "quoted", [brackets]' }
const result = { type: 'tool_result', tool_use_id: 'c', content: 'text' }

test.each([
  ['Chat', { messages: [user, { role: 'tool', tool_call_id: 'c', content: 'text' }] }],
  ['Chat of older clients', { messages: [user, { role: 'function', name: 'f', content: 'x' }] }],
  ['Messages', { messages: [user, { role: 'user', content: [result] }] }],
  [
    'Messages with text after the result',
    { messages: [{ role: 'user', content: [result, { type: 'text', text: 'x' }] }] },
  ],
  ['Responses', { input: [user, { type: 'function_call_output', call_id: 'c', output: 'x' }] }],
  ['custom tools', { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'x' }] }],
])('%s: a turn in its middle', (_, body) => {
  expect(ends(body)).toBe(true)
})

test.each([
  ['a question', { messages: [{ role: 'tool', content: 'x' }, user] }],
  ['an answer', { messages: [user, { role: 'assistant', content: [{ type: 'tool_use' }] }] }],
  ['no message', { messages: [] }],
  ['text', { input: 'function_call_output' }],
  ['texts', { input: ['a', 'b'] }],
  ['a question after an output', { input: [{ type: 'function_call_output' }, user] }],
  ['nothing', {}],
  ['null', { messages: null, input: [null] }],
])('%s: no turn in its middle', (_, body) => {
  expect(ends(body)).toBe(false)
})
