import { expect, test } from 'bun:test'
import { deltaBytes } from './delta-bytes.ts'

test.each([
  [
    'text of a chat chunk',
    '{"choices":[{"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}',
    5,
  ],
  ['its reasoning', '{"choices":[{"delta":{"reasoning_content":"Hm, ","content":null}}]}', 4],
  ['each choice', '{"choices":[{"delta":{"content":"ab"}},{"delta":{"content":"cde"}}]}', 5],
  ['with spaces', '{"choices": [{"delta": {"content": "Hello"}}]}', 5],
  [
    'a call, with its name',
    '{"delta":{"tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{\\"a\\":"}}]}}',
    8,
  ],
  ['no role', '{"choices":[{"delta":{"role":"assistant","content":""}}]}', 0],
  [
    'a Messages delta',
    '{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello"}}',
    5,
  ],
  ['no signature', '{"delta":{"type":"signature_delta","signature":"AAAA"}}', 0],
  [
    'no reason for the end',
    '{"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}',
    0,
  ],
  [
    'a Responses delta',
    '{"type":"response.output_text.delta","delta":"Hello","logprobs":[],"obfuscation":"xyz"}',
    5,
  ],
  ['no mark that is itself text', '{"delta":{"content":"\\"delta\\":\\"x\\""}}', 15],
  ['a backslash before the quote', '{"delta":{"content":"a\\\\"},"x":"y"}', 3],
  ['none of another event', '{"type":"response.output_text.done","text":"Hello"}', 0],
  ['a delta that is cut off', '{"delta":{"content":"Hel', 3],
  [
    'no image',
    '{"delta":{"content":"Hi","images":[{"type":"image_url","image_url":{"url":"data:AAAA"}}]}}',
    2,
  ],
  ['a delta that is nothing', '{"delta":null,"x":"y"}', 0],
])('counts %s', (_, event, bytes) => expect(deltaBytes(event)).toBe(bytes))

test('reading costs in proportion to an event’s length, whatever it holds', () => {
  const hostile = `{"delta":{"content":"${'\\'.repeat(200_000)}"${'"delta":['.repeat(20_000)}`
  // A quadratic algorithm would take minutes, so the test would time out.
  expect(deltaBytes(hostile)).toBeGreaterThan(0)
})
