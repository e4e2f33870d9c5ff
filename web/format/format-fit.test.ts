import { expect, test } from 'bun:test'
import { arrangeByFit, findFit } from './format-fit.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'
const FIM = '/alt/v1/fim/completions'
const KNOWN = {
  providers: [
    { id: 'alike', dialects: ['openai-chat'] },
    { id: 'other', dialects: ['anthropic-messages'] },
    { id: 'code', dialects: ['mistral-fim'] },
  ],
  table: [{ endpoint: CHAT, targets: [{ provider: 'alike' }, { provider: 'other' }] }],
}

test.each([
  [CHAT, ['alike/any'], 'native'],
  [CHAT, ['other/any'], 'translated'],
  [CHAT, ['other/any', 'alike/any'], 'native'],
  [RESPONSES, ['other/any'], 'unknown'],
  [FIM, ['alike/any', 'other/any'], 'none'],
  [FIM, ['alike/any', 'code/any'], 'native'],
  [FIM, ['alike/any', 'owned/mine'], 'unknown'],
  [FIM, [], 'unknown'],
] as const)('calls to %s with %p: %s', (endpoint, targets, fit) => {
  expect(findFit(KNOWN, endpoint, targets)).toBe(fit)
})

test('native dialects of the targets come first, and the rest keeps its order', () => {
  const items = [FIM, RESPONSES, CHAT, MESSAGES].map((endpoint) => ({ endpoint }))
  const arranged = arrangeByFit(items, (endpoint) => findFit(KNOWN, endpoint, ['other/any']))
  expect(arranged.map(({ endpoint, fit }) => [endpoint, fit])).toEqual([
    [MESSAGES, 'native'],
    [CHAT, 'translated'],
    [RESPONSES, 'unknown'],
    [FIM, 'none'],
  ])
})
