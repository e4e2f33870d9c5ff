import { describe, expect, test } from 'bun:test'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { JsonRecord, JsonValue } from './chat-request.ts'
import type { Dialect } from './dialect.ts'
import { gatehouseChat } from './gatehouse-chat/index.ts'
import { scanJsonObject } from './json-splice.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { mistralFim } from './mistral-fim/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

type Type = 'string' | 'number' | 'boolean' | 'array' | 'object'

interface Accepted {
  readonly dialect: Dialect
  /** The smallest accepted request. */
  readonly least: JsonRecord
  readonly types: Readonly<Record<string, readonly Type[]>>
  /** Members that are removed, in a dialect that removes unknown members. */
  readonly leftOut?: readonly string[]
  /** True when `gate_id` may name the gate instead of `model`. */
  readonly hasGateId: boolean
}

const messages = [{ role: 'user', content: 'Hi' }]
const MODEL = { model: ['string'] } as const
const GATE = { ...MODEL, gate_id: ['string'] } as const
const DIALECTS: Readonly<Record<string, Accepted>> = {
  'openai-chat': {
    dialect: openaiChat,
    least: { model: 'g', messages },
    types: {
      ...GATE,
      ...{ messages: ['array'], stream: ['boolean'], stream_options: ['object'], tools: ['array'] },
      ...{
        tool_choice: ['string', 'object'],
        max_tokens: ['number'],
        max_completion_tokens: ['number'],
      },
    },
    hasGateId: true,
  },
  'openai-responses': {
    dialect: openaiResponses,
    least: { model: 'g', input: 'Hi' },
    types: {
      ...MODEL,
      ...{
        input: ['string', 'array'],
        stream: ['boolean'],
        store: ['boolean'],
        background: ['boolean'],
      },
      ...{
        include: ['array'],
        tools: ['array'],
        tool_choice: ['string', 'object'],
        reasoning: ['object'],
      },
      max_output_tokens: ['number'],
    },
    hasGateId: false,
  },
  'anthropic-messages': {
    dialect: anthropicMessages,
    least: { model: 'g', max_tokens: 1, messages },
    types: {
      ...GATE,
      ...{ messages: ['array'], max_tokens: ['number'], stream: ['boolean'], tools: ['array'] },
      ...{ tool_choice: ['object'], system: ['string', 'array'] },
    },
    hasGateId: true,
  },
  'mistral-chat': {
    dialect: mistralChat,
    least: { model: 'g', messages },
    types: {
      ...GATE,
      messages: ['array'],
      stream: ['boolean'],
      tools: ['array'],
      max_tokens: ['number'],
    },
    leftOut: ['logit_bias', 'user'],
    hasGateId: true,
  },
  'mistral-fim': {
    dialect: mistralFim,
    least: { model: 'g', prompt: '' },
    types: {
      ...GATE,
      ...{ prompt: ['string'], suffix: ['string'], stream: ['boolean'], min_tokens: ['number'] },
      ...{
        max_tokens: ['number'],
        random_seed: ['number'],
        temperature: ['number'],
        top_p: ['number'],
      },
      ...{ stop: ['string', 'array'], metadata: ['object'] },
    },
    leftOut: ['min_tokens', 'messages', 'tools'],
    hasGateId: true,
  },
  'gatehouse-chat': {
    dialect: gatehouseChat,
    least: { gate_id: 'g', messages },
    types: {
      ...{ gate_id: ['string'], messages: ['array'], vars: ['object'], instructions: ['string'] },
      ...{ tools: ['array'], tool_choice: ['string', 'object'], response_format: ['object'] },
      ...{ temperature: ['number'], top_p: ['number'], max_output_tokens: ['number'] },
      ...{
        stop: ['string', 'array'],
        reasoning: ['object'],
        stream: ['boolean'],
        metadata: ['object'],
      },
    },
    hasGateId: false,
  },
}

const SAMPLES: Readonly<Record<Type, JsonValue>> = {
  string: 'x',
  number: 7,
  boolean: false,
  array: [],
  object: {},
}
const WORDS: Readonly<Record<Type, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
}

describe.each(Object.entries(DIALECTS))(
  '%s',
  (id, { dialect, least, types, leftOut = [], hasGateId }) => {
    const accept = (body: JsonRecord) =>
      dialect.accept(scanJsonObject(Buffer.from(JSON.stringify(body))))
    const refused = (param: string, code: string) =>
      expect.objectContaining({ kind: 'invalid_request', status: 400, param, code })

    test('knows itself by its name', () => {
      expect(dialect.id as string).toBe(id)
    })

    test.each(Object.entries(types))('%s has the types %j and no other', (name, allowed) => {
      for (const type of Object.keys(SAMPLES) as Type[]) {
        const body = { ...least, [name]: SAMPLES[type] }
        if (allowed.includes(type)) expect(accept(body).body.get(name)).toBeDefined()
        else {
          expect(() => accept(body)).toThrow(refused(name, 'invalid_type'))
          const words = allowed.map((each) => WORDS[each]).join(' or ')
          expect(() => accept(body)).toThrow(`'${name}' must be ${words}, but is ${WORDS[type]}.`)
        }
      }
    })

    test.each(Object.keys(least))('needs %s, which null is not', (name) => {
      const { [name]: _, ...others } = least
      expect(() => accept(others)).toThrow(refused(name, 'missing_required_parameter'))
      expect(() => accept({ ...others, [name]: null })).toThrow(
        refused(name, 'missing_required_parameter'),
      )
    })

    test('streams only if the request says so', () => {
      expect(accept({ ...least, stream: true }).stream).toBe(true)
      for (const stream of [false, null]) expect(accept({ ...least, stream }).stream).toBe(false)
      expect(accept(least).stream).toBe(false)
    })

    test('requires a gate, and names members without effect', () => {
      expect(accept(least)).toMatchObject({ gateId: 'g', ignored: [] })
      for (const name of ['gate_id', 'model'])
        if (name in least)
          expect(() => accept({ ...least, [name]: '' })).toThrow(refused(name, 'invalid_value'))
      for (const name of leftOut) expect(accept({ ...least, [name]: null }).ignored).toEqual([name])
    })

    if (hasGateId)
      test('is routed by gate_id, beside which another model has no effect', () => {
        const { model, ...others } = least
        expect(accept({ ...others, gate_id: 'h' })).toMatchObject({ gateId: 'h', ignored: [] })
        expect(accept({ ...others, model: 'h', gate_id: 'h' })).toMatchObject({
          gateId: 'h',
          ignored: [],
        })
        expect(accept({ ...others, model: 'm', gate_id: 'h' })).toMatchObject({
          gateId: 'h',
          ignored: ['model'],
        })
        expect(accept({ ...others, model: 'm', gate_id: null })).toMatchObject({ gateId: 'm' })
        expect(() => accept({ ...others, model: 'm', gate_id: '' })).toThrow(
          refused('gate_id', 'invalid_value'),
        )
      })
  },
)
