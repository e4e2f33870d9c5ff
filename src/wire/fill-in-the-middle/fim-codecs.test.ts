import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { DialectId } from '../../core/dialects.ts'
import { FIM_TEMPLATES, fimTemplateOf } from '../../providers/owned.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import { upstreamCodecOf } from '../dialects.ts'
import { FimEventEncoder } from './answer.ts'
import { writeFimPrompt } from './completions-codec.ts'
import { decodeFimRequest } from './fim-codec.ts'

const codecOf = (id: DialectId) => {
  const codec = upstreamCodecOf(id)
  if (codec?.form !== 'fim') throw new Error(`There is no codec of ${id}.`)
  return codec
}

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const USAGE = { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 0 }

/** Each form's stream of the given pieces. */
const STREAMS: Readonly<Record<string, (pieces: readonly string[]) => string>> = {
  'completions-suffix': completions,
  'completions-template': completions,
  infill: (pieces) =>
    pieces
      .map((content) => event({ index: 0, content, stop: false, tokens_predicted: 1 }))
      .join('') +
    event({
      content: '',
      stop: true,
      stop_type: 'limit',
      tokens_evaluated: 11,
      tokens_predicted: 7,
      timings: { cache_n: 3, prompt_n: 8, predicted_n: 7 },
    }),
}

function completions(pieces: readonly string[]): string {
  const chunk = (text: string, finish_reason: string | null = null) =>
    event({
      id: 'cmpl-7',
      object: 'text_completion',
      created: 7,
      model: 'qwen',
      choices: [{ index: 0, text, logprobs: null, finish_reason }],
    })
  const usage = {
    prompt_tokens: 11,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 3 },
  }
  return (
    pieces.map((text) => chunk(text)).join('') +
    chunk('', 'length') +
    event({ id: 'cmpl-7', object: 'text_completion', choices: [], usage }) +
    'data: [DONE]\n\n'
  )
}

function decode(id: string, pieces: readonly Uint8Array[]) {
  const decoder = codecOf(id as DialectId).createEventDecoder()
  const events = [...pieces.flatMap((bytes) => decoder.push(bytes)), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

function textOf(events: readonly ChatEvent[]): string {
  return events.map((each) => (each.type === 'text-delta' ? each.text : '')).join('')
}

/** The text that a caller reads from the stream. */
function readShown(events: readonly ChatEvent[]): { text: string; last: JsonRecord } {
  const encoder = new FimEventEncoder({
    callId: 'call_1',
    target: 'owned/coder',
    startedAtMs: 5000,
  })
  const shown = events.map((each) => encoder.push(each)).join('') + encoder.end()
  const chunks = shown
    .split('\n\n')
    .filter((frame) => frame !== '' && frame !== 'data: [DONE]')
    .map((frame) => JSON.parse(frame.slice('data: '.length)))
  expect(shown.endsWith('data: [DONE]\n\n')).toBe(true)
  for (const chunk of chunks) expect(chunk.choices[0]).toHaveProperty('finish_reason')
  return {
    text: chunks.map((chunk) => chunk.choices[0].delta.content).join(''),
    last: chunks.at(-1),
  }
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'data: [DONE]\n\n',
    '"stop":true',
    '\r\n',
    '\u2028',
    '\ufeff',
    '{"error":1}',
    '👋',
  ),
)
const cuts = fc.array(fc.nat(), { maxLength: 6 })

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [
    ...new Set(places.map((place) => place % (bytes.length + 1))),
    bytes.length,
  ].toSorted((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

describe.each(Object.keys(STREAMS))('a stream by %s', (id) => {
  const write = STREAMS[id] ?? (() => '')

  test('gives the same text wherever it is cut, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 5 }), cuts, (pieces, places) => {
        const { events, isComplete } = decode(id, cutAt(Buffer.from(write(pieces)), places))
        expect(isComplete).toBe(true)
        const text = pieces.join('')
        expect(textOf(events)).toBe(text)
        expect(events.filter(({ type }) => type === 'start')).toHaveLength(1)
        expect(events.slice(-2)).toEqual([
          { type: 'usage', usage: USAGE },
          { type: 'finish', reason: 'length' },
        ])
        const shown = readShown(events)
        expect(shown.text).toBe(text)
        expect(shown.last).toMatchObject({
          choices: [{ finish_reason: 'length' }],
          usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
        })
      }),
    )
  })

  test('gives the same byte by byte', () => {
    const bytes = Buffer.from(write(['retu', 'rn 👋', '']))
    const whole = decode(id, [bytes])
    expect(textOf(whole.events)).toBe('return 👋')
    expect(
      decode(
        id,
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole)
  })

  test('is not whole without its end', () => {
    const text = write(['a', 'b'])
    const reasonAt = text.search(/"(?:length|limit)"/)
    const bytes = Buffer.from(text.slice(0, text.lastIndexOf('data: ', reasonAt)))
    for (let end = 0; end <= bytes.length; end += 1)
      expect(decode(id, [bytes.subarray(0, end)]).isComplete).toBe(false)
  })

  test.each([
    '{"error":{"code":500,"message":"boom"}}',
    '{"error":"boom"}',
    '{"object":"error","message":"boom"}',
  ])('with a reported failure ends with it: %s', (failure) => {
    const { events, isComplete } = decode(id, [Buffer.from(`data: ${failure}\n\n${write(['x'])}`)])
    expect(events).toEqual([{ type: 'error', message: 'boom' }])
    expect(isComplete).toBe(false)
  })

  test('with an event of invalid JSON ends as broken', () => {
    const { events, isComplete } = decode(id, [
      Buffer.from(`data: {"content": "\n\n${write(['x'])}`),
    ])
    expect(events.map(({ type }) => type)).toEqual(['error'])
    expect(isComplete).toBe(false)
  })
})

const marks = (text: string, marker: string) => text.split(marker).length - 1

describe.each(Object.entries(FIM_TEMPLATES))('the template of %s', (_, template) => {
  const tokens = [template.prefix, template.suffix, template.middle]
    .map((token) => token.trim())
    .filter((token) => token !== '')
  /** Whole tokens, and halves that could become a token where two parts meet. */
  const code = fc
    .array(
      fc.oneof(
        fc.string(),
        ...tokens.flatMap((token) => [fc.constantFrom(token, token.slice(0, 4), token.slice(4))]),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(''))

  test('keeps both parts unchanged, and refuses a part that holds one of its tokens', () => {
    fc.assert(
      fc.property(code, code, (prompt, suffix) => {
        const holdsOne = tokens.some((token) => prompt.includes(token) || suffix.includes(token))
        if (holdsOne) {
          expect(() => writeFimPrompt(template, { prompt, suffix })).toThrow('separates the code')
          return
        }
        const written = writeFimPrompt(template, { prompt, suffix })
        expect(written).toContain(template.prefix + prompt)
        expect(written).toContain(template.suffix + suffix)
        expect(written.length).toBe(tokensLength(template) + prompt.length + suffix.length)
        for (const token of tokens) expect(marks(written, token)).toBe(1)
      }),
    )
  })
})

const tokensLength = ({
  prefix,
  suffix,
  middle,
}: {
  prefix: string
  suffix: string
  middle: string
}) => prefix.length + suffix.length + middle.length

test.each([
  ['codestral-latest', '[SUFFIX]after[PREFIX]before'],
  ['qwen2.5-coder:7b-base', '<|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>'],
  ['Qwen/Qwen3-Coder-30B-A3B-Instruct', '<|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>'],
  ['bigcode/starcoder2-15b', '<fim_prefix>before<fim_suffix>after<fim_middle>'],
  ['deepseek-ai/deepseek-coder-6.7b-base', '<｜fim▁begin｜>before<｜fim▁hole｜>after<｜fim▁end｜>'],
  ['deepseek-coder-v2:16b', '<｜fim▁begin｜>before<｜fim▁hole｜>after<｜fim▁end｜>'],
  ['codellama/CodeLlama-7b-hf', '<PRE> before <SUF>after <MID>'],
  ['codegemma:2b', '<|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>'],
  ['ibm-granite/granite-8b-code-base-4k', '<fim_prefix>before<fim_suffix>after<fim_middle>'],
])('%s is known by its name, and gets the format of its makers', (model, written) => {
  const name = fimTemplateOf(model)
  if (name === undefined) throw new Error('It is not known.')
  expect(writeFimPrompt(FIM_TEMPLATES[name], { prompt: 'before', suffix: 'after' })).toBe(written)
})

test.each(['llama3.3', 'codeqwen1.5', 'gemma-3', 'granite-4.0-h', 'mistral-large'])(
  '%s is not',
  (model) => {
    expect(fimTemplateOf(model)).toBeUndefined()
  },
)

describe('a request', () => {
  const read = (members: JsonRecord) => decodeFimRequest({ model: 'm', prompt: 'p', ...members })

  test('treats null as absent, and one stop text as a list', () => {
    expect(
      read({ suffix: null, stop: null, max_tokens: null, metadata: null, stream: null }),
    ).toEqual({
      prompt: 'p',
      suffix: '',
      stream: false,
      stop: [],
      unplaced: [],
    })
    expect(read({ stop: 'x' }).stop).toEqual(['x'])
  })

  test('with a stop that is not a text is refused by its path', () => {
    expect(() => read({ stop: ['a', 7] })).toThrow("'stop[1]' must be a string")
  })
})
