import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonRecord } from '../chat-request.ts'
import { scanJsonObject } from '../json-splice.ts'
import { anthropicCountTokens } from './count-tokens.ts'

const accept = (body: JsonRecord) =>
  anthropicCountTokens.accept(scanJsonObject(Buffer.from(JSON.stringify(body))))
const count = (members: JsonRecord): number => {
  const answer = anthropicCountTokens.answerLocally?.(
    accept({ model: 'g', messages: [], ...members }),
  )
  return Number(answer?.input_tokens)
}
const user = (content: string | JsonRecord[]): JsonRecord => ({
  messages: [{ role: 'user', content }],
})
const assistant = (...content: JsonRecord[]): JsonRecord => ({
  messages: [{ role: 'assistant', content }],
})

describe('an estimate', () => {
  const seven = 'x'.repeat(7)
  const image = { type: 'image', source: { type: 'url', url: 'https://x.test/a' } }

  test.each<[string, number, JsonRecord]>([
    ['nothing', 0, {}],
    ['a message', 4, user('')],
    ['bytes of text, rounded up', 4 + 2, user(seven)],
    ['bytes of text, rounded up', 4 + 3, user(`${seven}x`)],
    ['bytes and not characters', 4 + 4, user('👋👋👋ab')],
    ['instructions', 4 + 2, { system: seven }],
    ['a picture', 4 + 1_600, user([image])],
    ['a document', 4 + 6_000, user([{ ...image, type: 'document' }])],
    ['a result', 4 + 2, user([{ type: 'tool_result', tool_use_id: 't', content: seven }])],
    ['thinking', 4 + 2, assistant({ type: 'thinking', thinking: seven })],
    [
      'a call: name and arguments',
      4 + 2,
      assistant({ type: 'tool_use', id: 't', name: 'fffff', input: {} }),
    ],
    ['tools', 8, { tools: [{ name: 'x'.repeat(28 - '[{"name":""}]'.length) }] }],
  ])('counts %s: %d', (_, tokens, members) => {
    expect(count(members)).toBe(tokens)
  })

  test('of several messages lies between the greatest of each and their sum', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), (texts) => {
        const messages = texts.map((content) => ({ role: 'user', content }))
        const alone = texts.map((text) => count(user(text)))
        const together = count({ messages })
        expect(together).toBeLessThanOrEqual(alone.reduce((sum, tokens) => sum + tokens, 0))
        for (const tokens of alone) expect(together).toBeGreaterThanOrEqual(tokens)
      }),
      { numRuns: 30 },
    )
  })

  test('of an unreadable message is refused by its path', () => {
    expect(() => count({ messages: [{ role: 'user' }] })).toThrow(
      expect.objectContaining({ kind: 'invalid_request', param: 'messages[0].content' }),
    )
  })
})

describe('a call that is relayed', () => {
  test('gets the target’s model and no other change; it does not stream and uses nothing', () => {
    const text = '{"model":"g","messages":[ ],"stream":true,"x":1.0}'
    const accepted = anthropicCountTokens.accept(scanJsonObject(Buffer.from(text)))
    expect(accepted).toMatchObject({ gateId: 'g', stream: false, ignored: [] })
    const target = {
      ...{ model: 'up', isReasoningModel: false, countsStreamsOnRequest: false, traits: {} },
      takesEffort: false,
    }
    const { body, hidesUsage } = anthropicCountTokens.rewrite(accepted, target)
    expect(Buffer.from(body.toBytes()).toString()).toBe(text.replace('"g"', '"up"'))
    expect(hidesUsage).toBe(false)
    expect(
      anthropicCountTokens.readUsage({ input_tokens: 7, usage: { input_tokens: 7 } }),
    ).toBeNull()
  })

  test.each<[string, string, JsonRecord]>([
    ['messages', 'missing_required_parameter', { model: 'g' }],
    ['model', 'missing_required_parameter', { messages: [] }],
    ['messages', 'invalid_type', { model: 'g', messages: {} }],
    ['system', 'invalid_type', { model: 'g', messages: [], system: {} }],
    ['tools', 'invalid_type', { model: 'g', messages: [], tools: {} }],
  ])('is refused for %s as %s', (param, code, body) => {
    expect(() => accept(body)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', param, code }),
    )
  })

  test('takes instructions as text and as blocks', () => {
    for (const system of ['a', [{ type: 'text', text: 'a' }], null])
      expect(accept({ gate_id: 'h', model: 'm', messages: [], system })).toMatchObject({
        gateId: 'h',
        ignored: ['model'],
      })
  })
})
