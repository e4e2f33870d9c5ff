import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../core/errors.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { RelayedDialect, RelayTarget } from './dialect.ts'
import { scanJsonObject } from './json-splice.ts'
import { mistralFim } from './mistral-fim/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

const PLAIN: RelayTarget = {
  model: 'up/stream',
  isReasoningModel: false,
  countsStreamsOnRequest: false,
  traits: {},
  takesEffort: false,
}
const REASONING: RelayTarget = { ...PLAIN, isReasoningModel: true }
const COUNTING: RelayTarget = { ...PLAIN, countsStreamsOnRequest: true }

function rewrite(dialect: RelayedDialect, body: string, target: RelayTarget = PLAIN): string {
  const accepted = dialect.accept(scanJsonObject(Buffer.from(body)))
  return new TextDecoder().decode(dialect.rewrite(accepted, target).body.toBytes())
}

/** Members that no dialect here reads, in any spelling JSON allows. */
const others = fc.dictionary(
  fc.string({ maxLength: 8 }).map((key) => `x-${key}`),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 6 },
)

describe('a rewrite keeps the rest of the body unchanged', () => {
  test('on responses', () => {
    fc.assert(
      fc.property(others, fc.nat(3), (extra, indent) => {
        const body = JSON.stringify({ ...extra, model: 'gate', input: 'hi' }, null, indent)
        const sent = rewrite(openaiResponses, body, REASONING)
        expect(JSON.parse(sent)).toEqual({
          ...JSON.parse(body),
          model: 'up/stream',
          store: false,
          include: ['reasoning.encrypted_content'],
        })
        // Removing the additions and restoring the model's name gives the original bytes.
        const back = sent
          .replace(
            /^\{"include":\["reasoning\.encrypted_content"\],"store":false,|^\{"store":false,"include":\["reasoning\.encrypted_content"\],/,
            '{',
          )
          .replace('"up/stream"', '"gate"')
        expect(back.replaceAll(/\s/g, '')).toBe(body.replaceAll(/\s/g, ''))
      }),
    )
  })

  test('on chat, where gate_id is taken out', () => {
    fc.assert(
      fc.property(others, (extra) => {
        const sent = rewrite(
          openaiChat,
          JSON.stringify({ gate_id: 'gate', ...extra, messages: [], stream: true }),
          COUNTING,
        )
        expect(JSON.parse(sent)).toEqual({
          ...JSON.parse(JSON.stringify(extra)),
          model: 'up/stream',
          messages: [],
          stream: true,
          stream_options: { include_usage: true },
        })
      }),
    )
  })

  test('to the byte: big numbers, escapes, spacing and order', () => {
    const body =
      ' {"z":12345678901234567890, "mod\\u0065l" : "gate","input":"\\ud83d\\ude00 😀","store" : false,"a":1.0e+2 }\n'
    expect(rewrite(openaiResponses, body)).toBe(body.replace('"gate"', '"up/stream"'))
  })
})

describe('responses', () => {
  test.each([
    ['absent', '', '["reasoning.encrypted_content"]'],
    ['null', ',"include":null', '["reasoning.encrypted_content"]'],
    ['empty', ',"include":[ ]', '["reasoning.encrypted_content"]'],
    ['another', ',"include":[ "a.b" ]', '[ "a.b" ,"reasoning.encrypted_content"]'],
    [
      'there already',
      ',"include":["reasoning.encrypted_content"]',
      '["reasoning.encrypted_content"]',
    ],
  ])(
    'include that is %s gains the encrypted reasoning of a reasoning model',
    (_name, include, wanted) => {
      const sent = rewrite(openaiResponses, `{"model":"g","input":"hi"${include}}`, REASONING)
      expect(sent).toContain(`"include":${wanted}`)
    },
  )

  test.each([
    ['"store":true', 'store'],
    ['"store":"no"', 'store'],
    ['"previous_response_id":"r"', 'previous_response_id'],
    ['"conversation":"c"', 'conversation'],
    ['"background":true', 'background'],
    ['"prompt":{"id":"p"}', 'prompt'],
    ['"include":"all"', 'include'],
    ['"input":[{"type":"item_reference","id":"rs_1"}]', 'input[0]'],
    ['"input":[{"role":"user","content":"a"},{"type":"item\\u005freference"}]', 'input[1]'],
    ['"input":[{"id":"msg_1"}]', 'input[0]'],
    ['"input":[{"role":"user","content":"a"}, { "id" : "msg_1" } ]', 'input[1]'],
    ['"input":[{"type":null,"id":"msg_1"}]', 'input[0]'],
    ['"input":[{"id":"msg_1","type": null}]', 'input[0]'],
    ['"input":[{"i\\u0064":"msg_1"}]', 'input[0]'],
    ['"input":[{"type":"message","type":"item_reference","id":"msg_1"}]', 'input[0]'],
    ['"input":5', 'input'],
  ])('%s is refused, naming the field', (member, param) => {
    const body = member.startsWith('"input"')
      ? `{"model":"g",${member}}`
      : `{"model":"g","input":"hi",${member}}`
    expect(() => rewrite(openaiResponses, body)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', param }),
    )
  })

  test.each([
    ...['"store":true', '"previous_response_id":"r"', '"conversation":"c"', '"prompt":{"id":"p"}'],
    ...['"background":true', '"input":[{"type":"item_reference","id":"rs_1"}]'],
  ])('%s needs stored responses, and is refused with that code', (member) => {
    const rest = member.startsWith('"input"') ? '' : ',"input":"hi"'
    expect(() => rewrite(openaiResponses, `{"model":"g",${member}${rest}}`)).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter' }),
    )
  })

  test.each([
    '"store":null',
    '"previous_response_id":null',
    '"background":false',
    '"conversation":null',
  ])('%s is accepted', (member) => {
    expect(JSON.parse(rewrite(openaiResponses, `{"model":"g","input":"hi",${member}}`)).store).toBe(
      false,
    )
  })

  test.each([
    '{"id":"msg_1","role":"assistant","content":"a"}',
    '{"id":"msg_1","type":null,"role":"assistant","content":"a"}',
    '{"role":"user","content":"the answer was {\\"id\\":\\"msg_1\\"}"}',
    '{"type":"function_call","call_id":"c","name":"n","arguments":"{}","x":{"id":"msg_1"}}',
  ])('%s is an item with its own words, not a reference', (item) => {
    const body = `{"model":"g","input":[${item}],"store":false}`
    expect(rewrite(openaiResponses, body)).toBe(body.replace('"g"', '"up/stream"'))
  })

  test('text about an item_reference is not a reference', () => {
    const body =
      '{"model":"g","input":[{"role":"user","content":"what is an item_reference?"}],"store":false}'
    expect(rewrite(openaiResponses, body)).toBe(body.replace('"g"', '"up/stream"'))
  })
})

describe('chat', () => {
  test.each([
    ['"stream_options":null', { include_usage: true }],
    ['"stream_options":{}', { include_usage: true }],
    [
      '"stream_options":{"include_usage":false,"include_obfuscation":false}',
      { include_usage: true, include_obfuscation: false },
    ],
  ])('%s of a stream gets stream_options that ask for usage', (member, wanted) => {
    const sent = rewrite(
      openaiChat,
      `{"model":"g","messages":[],"stream":true,${member}}`,
      COUNTING,
    )
    expect(JSON.parse(sent).stream_options).toEqual(wanted)
  })

  test.each(['Include_usage', 'INCLUDE_USAGE', 'include_u\u017fage'])(
    'a stream cannot be counted where some servers read %s for include_usage: it is refused',
    (name) => {
      const options = JSON.stringify({ include_usage: true, [name]: false })
      const body = `{"model":"g","messages":[],"stream":true,"stream_options":${options}}`
      expect(() => rewrite(openaiChat, body, COUNTING)).toThrow(
        expect.objectContaining({ kind: 'invalid_request', param: name }),
      )
    },
  )

  test('a call without streaming, or to a provider that counts unasked, gets no stream_options', () => {
    expect(rewrite(openaiChat, '{"model":"g","messages":[]}', COUNTING)).not.toContain(
      'stream_options',
    )
    expect(rewrite(openaiChat, '{"model":"g","messages":[],"stream":true}')).not.toContain(
      'stream_options',
    )
  })

  test('gate_id routes, and a model beside it is named as ignored', () => {
    const accepted = openaiChat.accept(
      scanJsonObject(Buffer.from('{"gate_id":"a","model":"b","messages":[]}')),
    )
    expect(accepted).toMatchObject({ gateId: 'a', ignored: ['model'] })
  })
})

describe('fim', () => {
  test('only members that Mistral knows are sent; the rest, and min_tokens, is named', () => {
    const body =
      '{"model":"g","prompt":"a","min_tokens":1,"suffix":null,"frequency_penalty":0,"gate_id":"g","seed":2}'
    const accepted = mistralFim.accept(scanJsonObject(Buffer.from(body)))
    expect(accepted.ignored).toEqual(['min_tokens', 'frequency_penalty', 'seed'])
    expect(JSON.parse(rewrite(mistralFim, body))).toEqual({
      model: 'up/stream',
      prompt: 'a',
      suffix: null,
    })
  })

  test('an empty prompt is accepted, a missing one is not', () => {
    expect(JSON.parse(rewrite(mistralFim, '{"model":"g","prompt":""}')).prompt).toBe('')
    expect(() => rewrite(mistralFim, '{"model":"g"}')).toThrow(GatewayError)
  })
})

describe('messages', () => {
  const IN_PATH: RelayTarget = { ...PLAIN, insteadOfModel: { version: 'v-1' } }

  test.each([
    [
      '{"model": "g", "messages": [], "max_tokens": 1, "x": 12345678901234567890}',
      '{"version":"v-1","messages": [], "max_tokens": 1, "x": 12345678901234567890}',
    ],
    [
      '{"messages": [], "version": "mine", "max_tokens": 1, "gate_id": "g", "model": "m"}',
      '{"messages": [], "version": "v-1", "max_tokens": 1}',
    ],
  ])('the body has no model if the path has it: %s', (body, rewritten) => {
    expect(JSON.parse(rewrite(anthropicMessages, body, IN_PATH))).toEqual(JSON.parse(rewritten))
    expect(rewrite(anthropicMessages, body, IN_PATH)).toBe(rewritten)
  })
})
