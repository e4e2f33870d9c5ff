import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { GateDefaults, Overrides } from '../core/gate.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { ChatRequest } from './chat-request.ts'
import type { RelayedDialect, RelayTarget } from './dialect.ts'
import { decideDefaults, isDefaulted, withDefaults } from './gate-defaults.ts'
import { scanJsonObject } from './json-splice.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { mistralFim } from './mistral-fim/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

const TARGET: RelayTarget = {
  model: 'up',
  isReasoningModel: false,
  countsStreamsOnRequest: false,
  traits: { reasoning: 'effort' },
  takesEffort: true,
}
const DEFAULTS: GateDefaults = {
  instructions: 'Be\n"brief" 😀',
  temperature: 0.25,
  topP: 0.5,
  maxOutputTokens: 77,
  reasoningEffort: 'high',
}

interface Written {
  readonly sent: string
  readonly ignored: readonly string[]
}

function write(
  dialect: RelayedDialect,
  text: string,
  { defaults = DEFAULTS, overrides = 'ignore' as Overrides, target = TARGET } = {},
): Written {
  const accepted = dialect.accept(scanJsonObject(Buffer.from(text)))
  const { readExplicit } = dialect
  if (readExplicit === undefined) throw new Error('no defaults here')
  const decided = decideDefaults({ defaults, overrides }, accepted.body, readExplicit)
  const { body, ignored = [] } = dialect.rewrite(
    { ...accepted, defaults: decided.defaults },
    target,
  )
  return {
    sent: Buffer.from(body.toBytes()).toString(),
    ignored: [...accepted.ignored, ...decided.ignored, ...ignored],
  }
}

/** Members that no dialect reads, with every spelling that JSON.stringify has. */
const others = fc.dictionary(
  fc.string({ maxLength: 8 }).map((key) => `x-${key}`),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 6 },
)
/** A caller's own settings, by name; null counts as absent. */
const said = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(null, 1, 0.25, 77)])), {
    requiredKeys: [],
  })
const messages = fc.array(fc.record({ role: fc.constant('user'), content: fc.string() }), {
  maxLength: 3,
})
const system = { role: 'system', content: DEFAULTS.instructions }

describe('in any body, with any members in any order', () => {
  const shuffled = (parts: object) =>
    fc.shuffledSubarray(Object.entries(parts), { minLength: Object.keys(parts).length })

  test('Chat', () => {
    fc.assert(
      fc.property(
        fc
          .tuple(
            others,
            said(['temperature', 'top_p', 'max_tokens', 'max_completion_tokens']),
            messages,
          )
          .chain(([extra, settings, list]) =>
            shuffled({ ...extra, ...settings, model: 'gate', messages: list }),
          ),
        fc.nat(3),
        (entries, indent) => {
          const text = JSON.stringify(Object.fromEntries(entries), null, indent)
          const { sent } = write(openaiChat, text)
          // Parsed from the written text, because JSON has no -0.
          const body = JSON.parse(text)
          const { max_tokens, max_completion_tokens, ...rest } = JSON.parse(sent)
          const wanted = {
            ...body,
            model: 'up',
            temperature: 0.25,
            top_p: 0.5,
            reasoning_effort: 'high',
          }
          const {
            max_tokens: _old,
            max_completion_tokens: _new,
            ...others
          } = wanted as Record<string, unknown>
          expect(rest).toEqual({ ...others, messages: [system, ...(body.messages as unknown[])] })
          const limits = [max_tokens, max_completion_tokens].filter((limit) => limit != null)
          // A caller may set the same limit under two names.
          expect([...new Set(limits)]).toEqual([77])
        },
      ),
    )
  })

  test('to the byte: unedited members keep their spelling', () => {
    fc.assert(
      fc.property(others, messages, fc.nat(3), (extra, list, indent) => {
        const body = JSON.stringify(
          { ...extra, temperature: 1, messages: list, model: 'gate' },
          null,
          indent,
        )
        const { sent } = write(openaiChat, body, {
          defaults: { instructions: 'I', temperature: 0.5, topP: 0.1 },
        })
        const element = `{"role":"system","content":"I"}${list.length === 0 ? '' : ','}`
        const back = sent
          .replace('{"top_p":0.1,', '{')
          .replace(element, '')
          .replace(/("temperature":\s*)0\.5/, '$11')
          .replace(/("model":\s*)"up"/, '$1"gate"')
        expect(back).toBe(body)
      }),
    )
  })

  test('Messages, where instructions go before text and blocks alike', () => {
    const block = fc.record({ type: fc.constant('text'), text: fc.string() })
    fc.assert(
      fc.property(
        others,
        fc.oneof(fc.constant(null), fc.string(), fc.array(block)),
        (extra, given) => {
          const body = { ...extra, model: 'gate', max_tokens: 5, messages: [], system: given }
          const { sent } = write(anthropicMessages, JSON.stringify(body))
          const parsed = JSON.parse(sent)
          expect({ ...parsed, system: null }).toEqual({
            ...JSON.parse(JSON.stringify(body)),
            model: 'up',
            max_tokens: 77,
            temperature: 0.25,
            top_p: 0.5,
            system: null,
          })
          const text = DEFAULTS.instructions
          if (Array.isArray(given))
            expect(parsed.system).toEqual([{ type: 'text', text }, ...given])
          else expect(parsed.system).toBe(given ? `${text}\n\n${given}` : text)
        },
      ),
    )
  })

  test('Responses, where the caller’s own instructions keep their spelling', () => {
    fc.assert(
      fc.property(
        others,
        fc.string(),
        fc.option(fc.constantFrom('auto', 'detailed')),
        (extra, own, summary) => {
          const body = {
            ...extra,
            model: 'gate',
            input: 'a',
            instructions: own,
            ...(summary === null ? {} : { reasoning: { summary, effort: 'low' } }),
          }
          const { sent, ignored } = write(openaiResponses, JSON.stringify(body))
          expect(JSON.parse(sent)).toEqual({
            ...JSON.parse(JSON.stringify(body)),
            model: 'up',
            store: false,
            temperature: 0.25,
            top_p: 0.5,
            max_output_tokens: 77,
            instructions: own === '' ? DEFAULTS.instructions : `${DEFAULTS.instructions}\n\n${own}`,
            reasoning: { effort: 'high', ...(summary === null ? {} : { summary }) },
          })
          expect(ignored).toEqual(summary === null ? [] : ['reasoning.effort'])
        },
      ),
    )
  })

  test("Mistral's: no member is sent twice, and no unknown one is sent", () => {
    const names = ['temperature', 'top_p', 'max_tokens', 'reasoning_effort']
    fc.assert(
      fc.property(others, said(names), fc.boolean(), (extra, settings, isFim) => {
        const [dialect, own] = isFim
          ? ([mistralFim, { prompt: 'a' }] as const)
          : ([mistralChat, { messages: [] }] as const)
        const { reasoning_effort: _effort, ...sampling } = settings
        const body = { ...own, ...extra, ...(isFim ? sampling : settings), model: 'gate' }
        const { sent } = write(dialect, JSON.stringify(body))
        expect(JSON.parse(sent)).toEqual({
          model: 'up',
          temperature: 0.25,
          top_p: 0.5,
          max_tokens: 77,
          ...(isFim ? { prompt: 'a' } : { messages: [system], reasoning_effort: 'high' }),
        })
        // The scan refuses a duplicate member.
        expect(() => scanJsonObject(Buffer.from(sent))).not.toThrow()
      }),
    )
  })
})

describe('a model that does not take a setting', () => {
  const plain = { ...TARGET, traits: {}, takesEffort: false }
  const picky = { ...TARGET, traits: { refusesSampling: true, maxCompletionTokens: true } }

  test.each([
    [
      'Chat',
      openaiChat,
      '"messages":[],"temperature":1,"max_tokens":5',
      ['temperature', 'max_tokens', 'temperature', 'top_p'],
    ],
    [
      'Responses',
      openaiResponses,
      '"input":"a","temperature":1',
      ['temperature', 'temperature', 'top_p'],
    ],
    [
      'Messages',
      anthropicMessages,
      '"messages":[],"max_tokens":5',
      ['max_tokens', 'temperature', 'top_p'],
    ],
  ] as const)('%s: a sampling default is left out and named', (_name, dialect, rest, ignored) => {
    const defaults = { temperature: 0.5, topP: 0.5, maxOutputTokens: 9 }
    const written = write(dialect, `{"model":"g",${rest}}`, { target: picky, defaults })
    expect(written.sent).not.toMatch(/temperature|top_p|"max_tokens":5/)
    expect(written.ignored).toEqual([...ignored])
  })

  test.each([
    ['Chat', openaiChat, '"messages":[]', 'reasoning_effort'],
    ['Responses', openaiResponses, '"input":"a"', 'reasoning.effort'],
    ['Messages', anthropicMessages, '"messages":[],"max_tokens":5', 'output_config.effort'],
    ['Mistral', mistralChat, '"messages":[]', 'reasoning_effort'],
    ['FIM', mistralFim, '"prompt":"a"', 'reasoning_effort'],
  ] as const)('%s: an effort default is left out and named', (_name, dialect, rest, name) => {
    const written = write(dialect, `{"model":"g",${rest}}`, {
      target: plain,
      defaults: { reasoningEffort: 'low' },
    })
    expect(written.sent).not.toContain('effort')
    expect(written.ignored).toEqual([name])
  })

  test('a temperature beyond the scale of the dialect is set to its end, and named', () => {
    const defaults = { temperature: 2 }
    expect(write(mistralChat, '{"model":"g","messages":[]}', { defaults })).toMatchObject({
      sent: '{"temperature":1.5,"model":"up","messages":[]}',
      ignored: ['temperature'],
    })
    expect(
      write(anthropicMessages, '{"model":"g","messages":[],"max_tokens":1}', { defaults }),
    ).toMatchObject({
      sent: '{"temperature":1,"model":"up","messages":[],"max_tokens":1}',
      ignored: ['temperature'],
    })
  })

  test('a Messages caller that thinks gets no sampling defaults, which would be refused', () => {
    const body =
      '{"model":"g","messages":[],"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024}}'
    const target = { ...TARGET, traits: { reasoning: 'budget' as const } }
    expect(write(anthropicMessages, body, { defaults: { temperature: 1 }, target })).toEqual({
      sent: body.replace('"g"', '"up"'),
      ignored: ['temperature'],
    })
  })
})

describe('in Messages, `thinking` sets the effort too', () => {
  const adaptive = { ...TARGET, traits: { reasoning: 'adaptive' as const } }
  const budget = { ...TARGET, traits: { reasoning: 'budget' as const } }
  const body = (thinking: object) =>
    JSON.stringify({ model: 'up', max_tokens: 9000, messages: [], thinking })
  const ENABLED = { type: 'enabled', budget_tokens: 1024 }

  test.each([
    ['low', ENABLED, adaptive, { type: 'adaptive' }, ['thinking']],
    ['low', { type: 'adaptive' }, adaptive, { type: 'adaptive' }, []],
    ['low', ENABLED, budget, undefined, ['thinking', 'output_config.effort']],
    ['none', ENABLED, adaptive, undefined, ['thinking']],
    ['none', { type: 'adaptive' }, adaptive, undefined, ['thinking']],
    ['none', { type: 'disabled' }, adaptive, { type: 'disabled' }, []],
  ] as const)('%s and %p', (reasoningEffort, thinking, target, sent, ignored) => {
    const written = write(anthropicMessages, body(thinking), {
      defaults: { reasoningEffort },
      target,
    })
    expect(JSON.parse(written.sent).thinking).toEqual(sent as never)
    expect(written.ignored).toEqual([...ignored])
  })

  test.each([
    [{}, { effort: 'low' }],
    [{ output_config: null }, { effort: 'low' }],
    [
      { output_config: { format: { a: 1.5 }, effort: 'max' } },
      { format: { a: 1.5 }, effort: 'low' },
    ],
  ])('the effort is added to output_config, beside %j', (members, outputConfig) => {
    const text = JSON.stringify({ model: 'up', max_tokens: 9, messages: [], ...members })
    const { sent } = write(anthropicMessages, text, {
      defaults: { reasoningEffort: 'low' },
      target: adaptive,
    })
    expect(JSON.parse(sent)).toEqual({
      model: 'up',
      max_tokens: 9,
      messages: [],
      output_config: outputConfig,
    })
  })

  test('and counts where the gate allows it', () => {
    for (const reasoningEffort of ['none', 'high'] as const) {
      const settings = {
        defaults: { reasoningEffort },
        overrides: 'allow' as const,
        target: adaptive,
      }
      expect(write(anthropicMessages, body(ENABLED), settings).sent).toBe(body(ENABLED))
    }
  })
})

test('instructions become a developer message in a chat that uses that role', () => {
  const defaults = { instructions: 'I' }
  const sent = (role: string) =>
    write(openaiChat, `{"model":"g","messages":[{"role":"${role}","content":"a"}]}`, { defaults })
      .sent
  expect(sent('developer')).toContain('[{"role":"developer","content":"I"},{"role":"developer"')
  expect(sent('user')).toContain('[{"role":"system","content":"I"},{"role":"user"')
})

test('two names of one setting are one setting: both are named, and one is sent', () => {
  const body = '{"model":"g","messages":[],"max_tokens":5,"max_completion_tokens":6}'
  expect(write(openaiChat, body, { defaults: { maxOutputTokens: 7 } })).toEqual({
    sent: '{"model":"up","messages":[],"max_completion_tokens":7}',
    ignored: ['max_completion_tokens', 'max_tokens'],
  })
})

test('translated defaults stand where the caller would have set them', () => {
  const request: ChatRequest = {
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    stream: false,
    temperature: 1,
    reasoning: { budgetTokens: 1, summary: 'auto' },
    extra: {},
    family: 'openai-chat',
    ignored: [],
  }
  expect(withDefaults(request, DEFAULTS)).toEqual({
    ...request,
    temperature: 0.25,
    topP: 0.5,
    maxOutputTokens: 77,
    reasoning: { effort: 'high', summary: 'auto' },
    messages: [
      { role: 'system', content: [{ type: 'text', text: DEFAULTS.instructions ?? '' }] },
      ...request.messages,
    ],
  })
  expect(withDefaults(request, {})).toEqual(request)
  expect(isDefaulted('reasoning', { reasoningEffort: 'low' })).toBe(true)
  expect(isDefaulted('temperature', { reasoningEffort: 'low' })).toBe(false)
})
