import { expect, test } from 'bun:test'
import { CALL_ENDPOINTS } from '../wire/dialects.ts'
import { envelopeOf, findMisplaced } from './data-plane.ts'

test.each(Object.entries(CALL_ENDPOINTS))('%s: that of its dialect', (path, { envelope }) => {
  expect(envelopeOf(path)).toBe(envelope)
})

test.each([
  ['/v1/messages/batches', 'messages'],
  ['/v1/messages/', 'messages'],
  ['/v1/responses/resp_1/input_items', 'nested'],
  ['/v1/chat', 'nested'],
  ['/v1/models', 'nested'],
  ['/v1/models/gpt-4o', 'nested'],
  ['/v1/completions', 'nested'],
  ['/v1/embeddings/', 'nested'],
  // Only whole segments name a family.
  ['/v1/messagess', 'flat'],
  ['/v1/messages-batches', 'flat'],
  ['/v1/modelsx', 'flat'],
  ['/v1/chat-rooms', 'flat'],
  ['/v1/owned-models', 'flat'],
  ['/v1/gates', 'flat'],
  ['/v2/messages', 'flat'],
  ['/x/v1/messages', 'flat'],
  ['/x/v1/models', 'flat'],
  ['/alt/v1/models', 'alt'],
  ['/', 'flat'],
])('%s: %s', (path, envelope) => {
  expect<string>(envelopeOf(path)).toBe(envelope)
})

test.each([
  ['/chat/completions', '/v1/chat/completions'],
  ['/v1/v1/responses', '/v1/responses'],
  ['//v1/messages/count_tokens', '/v1/messages/count_tokens'],
  ['/v1/fim/completions', '/alt/v1/fim/completions'],
  ['/alt/chat/completions', '/alt/v1/chat/completions'],
  ['/v1/responses/', '/v1/responses'],
  ['/any/openai/v1/embeddings', '/v1/embeddings'],
  // The client was configured with an endpoint's address as the base address.
  ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
  ['/v1/responses/chat/completions', '/v1/chat/completions'],
  ['/v1/messages/v1/messages', '/v1/messages'],
  ['/alt/v1/fim/completions/v1/fim/completions', '/alt/v1/fim/completions'],
])('%s is meant for %s', (path, endpoint) => {
  expect(findMisplaced(path)?.path).toBe(endpoint)
})

test.each([
  '/v1/completions',
  '/v1/my-responses',
  '/v1/responses/resp_1',
  '/v1/chat',
  '/',
  // A gate and a tag with the names of endpoints.
  '/v1/gates/messages',
  '/v1/tags/responses/',
])('%s is meant for no endpoint', (path) => {
  expect(findMisplaced(path)).toBeUndefined()
})
