import { describe, expect, test } from 'bun:test'
import { scanJsonObject, spliceJson } from '../json-splice.ts'
import { markToolId, writeSeal, writeToolId } from '../seal-carrier.ts'
import { editHistory } from './edit-history.ts'

const OWN = 'anthropic#1'
const OTHER = 'gemini#2'
const CHECKING = { sealOrigin: OWN, checksSignatures: true }
const signed = (origin: string) => writeSeal({ type: 'signature', value: 'c2ln' }, origin)
const encrypted = (origin: string) => writeSeal({ type: 'encrypted', value: 'ZW5j' }, origin)
const sealedId = (id: string) => writeToolId(id, { seal: { type: 'signature', value: 'v' } }, OTHER)

function edit(text: string, reader: Parameters<typeof editHistory>[1] = CHECKING) {
  const body = scanJsonObject(Buffer.from(text))
  const { edits, leftOut } = editHistory(body, reader, [])
  return {
    text: Buffer.from(spliceJson(body, edits)).toString(),
    leftOut,
    isSame: edits.length === 0,
  }
}

const conversation = (blocks: readonly string[], members = '') =>
  `{${members}"messages": [ {"role":"user","content":"hi"} , {"role":"assistant", "content":[${blocks.join(',')}]},{"role":"user","content":"go on"}]}`
const text =
  '{"type":"text","text":"caf\\u00e9 gh1~ \\"signature\\":\\"\\"","n":12345678901234567890}'
const thinking = (signature: string) =>
  `{"type":"thinking", "thinking":"hm", "signature":${JSON.stringify(signature)}}`
const redacted = (data: string) => `{"type":"redacted_thinking","data":${JSON.stringify(data)}}`

describe('a conversation', () => {
  test.each([
    ['without any mark', conversation(['{"type":"text","text":"x"}', thinking('c2ln')])],
    ['whose text speaks of marks', conversation([text])],
    ['with messages that are not a list', '{"messages":{"gh1~":1}}'],
    ['without messages', '{"gh1~":1}'],
    [
      'whose blocks are odd',
      '{"messages":["gh1~",7,{"content":7},{"content":[7,{"type":8},{"type":"tool_use"}]}]}',
    ],
    [
      'with a key twice',
      '{"messages":[{"content":[{"type":"tool_use","id":"a~gh1~e30","id":"b"}]}]}',
    ],
  ])('%s stays as it is', (_, body) => {
    expect(edit(body)).toEqual({ text: body, leftOut: [], isSame: true })
  })

  test('keeps every byte except the signature, which is unwrapped for the server that made it', () => {
    const before = conversation(
      [thinking(signed(OWN)), redacted(encrypted(OWN)), text],
      '"x":1.10, ',
    )
    const { text: after, leftOut } = edit(before)
    expect(leftOut).toEqual([])
    expect(JSON.parse(after).messages[1].content.slice(0, 2)).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'ZW5j' },
    ])
    expect(after).toContain(text)
    expect(after).toStartWith('{"x":1.10, "messages": [{"role":"user"')
  })

  test.each([
    ['another provider', thinking(signed(OTHER))],
    ['another provider, all of it', redacted(encrypted(OTHER))],
    ['somebody, cut on its way', thinking(signed(OWN).slice(0, 9))],
    ['nobody', thinking('')],
    ['nobody, as some clients write it', '{"type": "thinking", "thinking": "hm", "signature": ""}'],
  ])('loses thinking that was sealed by %s', (_, block) => {
    const { text: after, leftOut } = edit(conversation([block, text]))
    expect(leftOut).toEqual(['messages.content.thinking'])
    expect(after).toContain(`"content":[${text}]`)
    expect(edit(conversation([block])).text).toBe(
      '{"messages": [{"role":"user","content":"hi"},{"role":"user","content":"go on"}]}',
    )
    expect(edit(conversation([text, block, text, text])).text).toContain(
      `"content":[${text},${text},${text}]`,
    )
  })

  test('keeps unsigned thinking for a server that checks no signatures, and loses other servers’ thinking', () => {
    const reader = { sealOrigin: 'owned/vllm#3', checksSignatures: undefined }
    const kept = conversation([thinking('')])
    expect(edit(kept, reader)).toEqual({ text: kept, leftOut: [], isSame: true })
    expect(edit(conversation([thinking(signed(OTHER)), text]), reader).leftOut).toEqual([
      'messages.content.thinking',
    ])
  })

  test('is refused with more than 10,000 marks, and is left alone without any', () => {
    const many = (block: string, count: number) => conversation(Array<string>(count).fill(block))
    expect(edit(many(thinking(''), 9_000)).leftOut).toEqual(['messages.content.thinking'])
    expect(() => edit(many(thinking(''), 10_001))).toThrow(
      expect.objectContaining({ param: 'messages' }),
    )
    const wide = many('{}', 200_000).replace('"hi"', '"gh1~"')
    expect(edit(wide)).toMatchObject({ isSame: true })
  })

  test('has the ids of its tools as the provider takes them, in call and result alike', () => {
    const ids = [sealedId('call_1'), markToolId('functions.now:0'), 'toolu_1']
    const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'now', input: { n: 1 } }))
    const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'noon' }))
    const messages = [
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
    ]
    const { text: after, leftOut } = edit(JSON.stringify({ messages }))
    expect(leftOut).toEqual(['messages.content.signature'])
    const plain = ['call_1', 'functions_now_0', 'toolu_1']
    const [called, returned] = JSON.parse(after).messages
    expect(called.content).toEqual(calls.map((call, index) => ({ ...call, id: plain[index] })))
    expect(returned.content.map((result: { tool_use_id: string }) => result.tool_use_id)).toEqual(
      plain,
    )
  })
})

describe('thinking with a budget', () => {
  const loop = (first: object, members: object) =>
    JSON.stringify({
      ...members,
      messages: [
        { role: 'user', content: 'What time is it?' },
        {
          role: 'assistant',
          content: [first, { type: 'tool_use', id: sealedId('c'), name: 'now', input: {} }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: sealedId('c'), content: 'noon' }],
        },
      ],
    })
  const enabled = { thinking: { type: 'enabled', budget_tokens: 2048 } }
  const foreign = { type: 'thinking', thinking: 'hm', signature: signed(OTHER) }

  test('is switched off if the turn under way has lost its thinking, and so is the edit that clears it', () => {
    const kept = { type: 'clear_tool_uses_20250919' }
    const context_management = {
      edits: [{ type: 'clear_thinking_20251015', keep: 'all' }, kept],
      more: 1,
    }
    const { text: after, leftOut } = edit(loop(foreign, { ...enabled, context_management }))
    expect(JSON.parse(after)).not.toHaveProperty('thinking')
    expect(JSON.parse(after).context_management).toEqual({ edits: [kept], more: 1 })
    expect(leftOut).toEqual([
      'messages.content.thinking',
      'messages.content.signature',
      'thinking',
      'context_management',
    ])
  })

  test.each<[string, object, object]>([
    [
      'is kept where that thinking is the provider’s own',
      { ...foreign, signature: 'c2ln' },
      enabled,
    ],
    ['that adapts is kept', foreign, { thinking: { type: 'adaptive' } }],
  ])('%s', (_, first, members) => {
    expect(JSON.parse(edit(loop(first, members)).text)).toMatchObject(members)
  })

  test('is left to a gate that decides it', () => {
    const body = scanJsonObject(Buffer.from(loop(foreign, enabled)))
    const member = body.get('thinking')
    if (member === undefined) throw new Error('no thinking')
    const decided = { type: 'replace', member, json: '{"type":"adaptive"}' } as const
    const { edits } = editHistory(body, CHECKING, [decided])
    expect(
      JSON.parse(Buffer.from(spliceJson(body, [decided, ...edits])).toString()).thinking,
    ).toEqual({
      type: 'adaptive',
    })
  })
})
