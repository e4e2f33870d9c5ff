import { expect } from 'bun:test'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { present } from '../../../src/wire/read-json.ts'
import { parseEvents } from '../server-sent-events.ts'
import { type Kind, NO_STREAM } from './kind.ts'
import {
  type Asked,
  ask,
  type Cell,
  expectRelayed,
  isRelayed,
  readAnswer,
  type Sample,
  toScript,
} from './pairs.ts'
import { accumulate } from './published-sdks.ts'
import {
  alternatingCalls,
  CUT_ARGUMENTS,
  CUT_CALL,
  callsAtIndexZero,
  endingWith,
  IMAGE,
  interleavedTurn,
  LOOP,
  ONE_CALL,
  sampleOf,
  streamOf,
  TEXT,
  TURN_TEXTS,
  TWO_CALLS,
  until,
  withCacheWrites,
  withImage,
  writesArgumentsAsText,
} from './samples.ts'

const CALLS = [
  { name: 'weather', input: { city: 'Oslo' } },
  { name: 'clock', input: { city: 'Ulm' } },
]

/** Answers that translate into each other, also read by the SDKs' accumulators. */
export const STREAMED_SAMPLES: Readonly<Record<string, (cell: Cell) => Sample | undefined>> = {
  'a text': ({ upstream }) => sampleOf(upstream, TEXT),
  'thinking and two calls': ({ upstream }) => sampleOf(upstream, LOOP),
  'calls whose pieces alternate': ({ upstream }) => alternatingCalls(upstream),
  'calls that all have the index 0': ({ upstream }) => callsAtIndexZero(upstream),
  'thinking between texts': ({ upstream }) => interleavedTurn(upstream),
  'calls beside the reason “stop”': ({ upstream }) =>
    sampleOf(upstream, { ...TWO_CALLS, finish: 'stop' }),
  'written cache': ({ upstream }) => withCacheWrites(upstream),
}

async function answer(cell: Cell, sample: Sample, members: JsonRecord = {}): Promise<Asked> {
  const asked = await ask(cell, { members, answers: [toScript(cell, sample)] })
  if (isRelayed(cell)) expectRelayed(cell, asked, sample)
  return asked
}

/** No block of a Messages stream begins while another block is open. */
function expectOneBlock(text: string): void {
  let open: number | undefined
  for (const { data } of parseEvents(text)) {
    const { type, index } = JSON.parse(data)
    if (type === 'content_block_start') {
      expect(open).toBeUndefined()
      open = index
    }
    if (type === 'content_block_stop') {
      expect(index).toBe(open)
      open = undefined
    }
  }
}

function callKind(name: string, make: (cell: Cell) => Sample | undefined, absent?: string): Kind {
  return {
    item: 1,
    name,
    absent(cell) {
      if (absent !== undefined && !cell.isStream) return NO_STREAM
      return make(cell) === undefined ? absent : undefined
    },
    async check(cell) {
      const sample = make(cell)
      if (sample === undefined) throw new Error('There is no such sample.')
      const asked = await answer(cell, sample)
      // A relayed stream is the upstream's own, even if SDKs cannot read it.
      if (isRelayed(cell)) return
      const { read } = await readAnswer(cell, asked)
      expect(read.calls).toEqual(CALLS)
      if (cell.isStream && cell.caller.dialect === 'anthropic-messages')
        expectOneBlock(asked.seen.text)
    },
  }
}

/** The turn that an unmodified client sends back, as the target receives it. */
async function nextTurn(cell: Cell, sample: Sample, thinks = true): Promise<Asked> {
  const { loop } = cell.caller.kit
  const asking = ({ thinking, reasoning, reasoning_effort, ...members }: JsonRecord): JsonRecord =>
    thinks ? { ...members, ...present({ thinking, reasoning, reasoning_effort }) } : members
  const first = await answer(cell, sample, asking(loop.ask))
  const { json } = await readAnswer(cell, first)
  const whole = { ...cell, isStream: false }
  const last = toScript(whole, sampleOf(cell.upstream, TEXT))
  const headers = { 'x-gatehouse-strict': 'true' }
  const second = await ask(whole, { members: asking(loop.next(json)), answers: [last], headers })
  expect([second.seen.status, second.seen.status === 200 ? '' : second.seen.text]).toEqual([
    200,
    '',
  ])
  return second
}

const order: Kind = {
  item: 2,
  name: 'thinking between the texts of a turn comes back in its place',
  absent({ upstream }) {
    if (upstream.dialect === 'gemini-generate-content') return 'thought summaries never go back'
    return interleavedTurn(upstream) === undefined ? 'a turn has one place for thinking' : undefined
  },
  async check(cell) {
    const sample = interleavedTurn(cell.upstream)
    if (sample === undefined) throw new Error('There is no such sample.')
    const { sent } = await nextTurn(cell, sample)
    const body = sent[0]?.body ?? ''
    const places = TURN_TEXTS.map((text) => body.indexOf(text, body.indexOf('probe-prompt')))
    expect({
      body,
      isInOrder: places.every((place, at) => place > (places[at - 1] ?? -1)),
    }).toEqual({
      body,
      isInOrder: true,
    })
  },
}

const calledAsStop: Kind = {
  item: 3,
  name: 'calls beside the reason “stop” end with the reason for calls',
  async check(cell) {
    const asked = await answer(cell, sampleOf(cell.upstream, { ...TWO_CALLS, finish: 'stop' }))
    if (isRelayed(cell)) return
    expect((await readAnswer(cell, asked)).read).toMatchObject({
      calls: CALLS,
      finish: 'tool_calls',
    })
  },
}

/** Reasons of a failure; the other dialects tell failures otherwise. */
const FAILING: Readonly<Record<string, readonly string[]>> = {
  'gemini-generate-content': ['OTHER', 'MALFORMED_FUNCTION_CALL', 'A_LATER_ONE'],
  'bedrock-converse': ['malformed_model_output', 'malformed_tool_use', 'a_later_one'],
  'cohere-chat': ['ERROR', 'TIMEOUT'],
  'mistral-chat': ['error'],
}

const failingReason: Kind = {
  item: 3,
  name: 'a failing or unknown reason of a vendor is a failure',
  absent: ({ upstream }) =>
    FAILING[upstream.dialect] === undefined ? 'no reason of the dialect is a failure' : undefined,
  async check(cell) {
    for (const reason of FAILING[cell.upstream.dialect] ?? []) {
      const sample = endingWith(cell.upstream, TEXT, reason)
      const { seen } = await ask(cell, { answers: [toScript(cell, sample)] })
      if (cell.isStream)
        expect([reason, cell.caller.kit.readEnd(seen.text)]).toEqual([
          reason,
          { isWhole: false, isFailed: true },
        ])
      else expect([reason, seen.status]).toEqual([reason, 502])
    }
  },
}

const comesBack: Kind = {
  item: 4,
  name: 'signatures, sealed thinking and vendor members come back in a tool loop',
  async check(cell) {
    const { upstream } = cell
    const isChat = upstream.kit.kept === undefined
    const sample = isChat ? chatLoop(cell) : sampleOf(upstream, LOOP)
    const kept = upstream.kit.kept ?? 'c2lnbmVkLWNhbGw='
    if (isRelayed(cell)) {
      await answer(cell, sample)
      return
    }
    const target = isChat ? 'openrouter/some/model' : upstream.target
    const { sent } = await nextTurn({ ...cell, upstream: { ...upstream, target } }, sample, !isChat)
    expect(sent[0]?.body).toContain(kept)
  },
}

function chatLoop({ upstream }: Cell): Sample {
  const { whole, stream } = sampleOf(upstream, ONE_CALL)
  const signed = (text: string) =>
    text.replace(
      '"type":"function"',
      '"type":"function","extra_content":{"google":{"thought_signature":"c2lnbmVkLWNhbGw="}}',
    )
  return {
    whole: JSON.parse(signed(JSON.stringify(whole))),
    stream: stream.map((piece) => signed(Buffer.from(piece).toString())),
  }
}

const answeredImage: Kind = {
  item: 6,
  name: 'an image in an answer reaches callers with a place for it, and is named for others',
  absent: ({ upstream }) =>
    withImage(upstream) === undefined ? 'its models answer without images' : undefined,
  async check(cell) {
    const sample = withImage(cell.upstream)
    if (sample === undefined) throw new Error('There is no such sample.')
    const asked = await answer(cell, sample)
    const { text, headers } = asked.seen
    if (cell.caller.dialect === 'openai-chat') {
      expect(text).toContain(IMAGE)
      return
    }
    const named = cell.isStream
      ? /^: x-gatehouse-ignored: (.*)$/m.exec(text)?.[1]
      : headers['x-gatehouse-ignored']
    expect(named ?? '').not.toBe('')
    expect((await readAnswer(cell, asked)).read.text).toBe(TEXT.text ?? '')
  },
}

function writtenInput(text: string): string {
  const events = parseEvents(text).map(({ data }) => JSON.parse(data))
  return events.map(({ delta }) => delta?.partial_json ?? '').join('')
}

const cutCall: Kind = {
  item: 9,
  name: 'a call that the token limit cut is delivered, and no second target asked',
  absent({ upstream, isStream }) {
    if (upstream.dialect === 'gemini-generate-content') return 'a call is whole or absent'
    return isStream || writesArgumentsAsText(upstream)
      ? undefined
      : 'a whole answer holds whole arguments'
  },
  async check(cell) {
    const { upstream, caller } = cell
    const sample = cell.isStream ? streamOf(upstream, CUT_CALL) : sampleOf(upstream, CUT_CALL)
    const script = toScript(cell, sample)
    const asked = await ask(cell, { answers: [script], targets: [upstream.target, 'groq/second'] })
    expect([asked.seen.status, asked.seen.ending, asked.sent.length]).toEqual([200, 'whole', 1])
    if (isRelayed(cell)) {
      expectRelayed(cell, asked, sample)
      return
    }
    const { text } = asked.seen
    expect(text).toContain(caller.dialect === 'anthropic-messages' ? 'max_tokens' : '"length"')
    if (caller.dialect === 'anthropic-messages') {
      const input = cell.isStream ? writtenInput(text) : CUT_ARGUMENTS
      const { content } = cell.isStream
        ? await accumulate(caller.dialect, text)
        : (JSON.parse(text) as JsonRecord)
      expect(input).toBe(CUT_ARGUMENTS)
      // The SDK itself omits a cut text.
      const read = cell.isStream ? {} : { city: 'Os' }
      expect(content).toMatchObject([{ type: 'tool_use', name: 'weather', input: read }])
    } else if (!cell.isStream) expect(text).toContain(JSON.stringify(CUT_ARGUMENTS))
  },
}

function brokenKind(name: string, make: (cell: Cell) => Sample): Kind {
  return {
    item: 14,
    name,
    absent: ({ isStream }) => (isStream ? undefined : NO_STREAM),
    async check(cell) {
      const { seen } = await ask(cell, { answers: [toScript(cell, make(cell))] })
      const { isWhole, isFailed } = cell.caller.kit.readEnd(seen.text)
      expect({ isWhole, isFailed, text: seen.text }).toEqual({
        isWhole: false,
        isFailed: true,
        text: seen.text,
      })
    },
  }
}

/** Where each caller's format tells how much was written to a cache. */
const WRITES: Readonly<Record<string, (usage: JsonRecord) => unknown>> = {
  'openai-chat': (usage) => (usage.prompt_tokens_details as JsonRecord).cache_write_tokens,
  'anthropic-messages': (usage) => usage.cache_creation_input_tokens,
}

const cacheWrites: Kind = {
  item: 14,
  name: 'tokens that were written to a cache are told',
  absent({ caller, upstream }) {
    if (withCacheWrites(upstream) === undefined) return 'the vendor does not report them'
    return WRITES[caller.dialect] === undefined ? 'the format does not tell them' : undefined
  },
  async check(cell) {
    const sample = withCacheWrites(cell.upstream)
    if (sample === undefined) throw new Error('There is no such sample.')
    const { json } = await readAnswer(cell, await answer(cell, sample))
    expect(WRITES[cell.caller.dialect]?.(json.usage as JsonRecord)).toBe(5)
  },
}

export const ANSWER_KINDS: readonly Kind[] = [
  callKind('two calls of a turn stay apart', ({ upstream }) => sampleOf(upstream, TWO_CALLS)),
  callKind(
    'calls whose pieces alternate stay apart, one block after the other',
    ({ upstream }) => alternatingCalls(upstream),
    'a call is one event',
  ),
  callKind(
    'calls that all have the index 0 stay apart',
    ({ upstream }) => callsAtIndexZero(upstream),
    'calls are not told by an index that servers leave at 0',
  ),
  order,
  calledAsStop,
  failingReason,
  comesBack,
  answeredImage,
  cutCall,
  brokenKind('a stream that ends within a call is broken', ({ upstream }) =>
    until(sampleOf(upstream, ONE_CALL), 'weather'),
  ),
  brokenKind('a stream that ends without its last event is broken', ({ upstream }) =>
    until(sampleOf(upstream, TEXT), 'o 😀'),
  ),
  cacheWrites,
]
