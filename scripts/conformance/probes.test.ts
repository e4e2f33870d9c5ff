import { expect, test } from 'bun:test'
import { catalog } from '../../src/providers/catalog.ts'
import type { Provider } from '../../src/providers/define.ts'
import type { InboundCodec } from '../../src/wire/codec.ts'
import type { Dialect } from '../../src/wire/dialect.ts'
import { openaiChat, openaiChatInboundCodec } from '../../src/wire/openai-chat/index.ts'
import { chatCaller } from '../../test/support/callers/chat-caller.ts'
import {
  cohereUpstream,
  geminiUpstream,
} from '../../test/support/upstream-answers/vendor-upstreams.ts'
import { ANSWER_PROBES, probeAnswer, probeFailures } from './probe-answers.ts'
import { probeLoop, probeRequest } from './probe-requests.ts'
import { ConformanceFault } from './verdict.ts'

const codec = openaiChatInboundCodec
const { seed, stop, unknown } = chatCaller.probes
const { answerText, usage } = ANSWER_PROBES
if (!seed || !stop || !unknown || !answerText || !usage)
  throw new Error('the probes have other names')

function pairOf(providerId: string, model: string, broken: Partial<InboundCodec> = {}) {
  const provider = catalog.find(({ id }) => id === providerId) as Provider
  const dialect: Dialect = { ...openaiChat, inboundCodec: { ...codec, ...broken } }
  return { dialect, provider, model }
}

test('a setting dropped without a mention is a fault', () => {
  const pair = pairOf('gemini', 'gemini-2.5-flash', {
    decodeRequest(body) {
      const { seed: _seed, stop: _stop, ...rest } = codec.decodeRequest(body)
      return rest
    },
  })
  expect(() => probeRequest(pair, chatCaller, seed)).toThrow(ConformanceFault)
  expect(() => probeRequest(pair, chatCaller, stop)).toThrow('probe-stop did not arrive')
})

test('a field dropped with a mention is lossy', () => {
  expect(probeRequest(pairOf('gemini', 'gemini-2.5-flash'), chatCaller, unknown)).toEqual({
    verdict: 'lossy',
    fields: ['unknown_field'],
  })
})

test('an answer that lacks parts of the upstream’s is lossy, with the names of the parts', () => {
  const pair = pairOf('cohere', 'command-a-03-2025', {
    encodeAnswer: (answer, facts) =>
      codec.encodeAnswer({ ...answer, content: [], usage: null }, facts),
  })
  expect(probeAnswer(pair, chatCaller, cohereUpstream, answerText)).toEqual({
    verdict: 'lossy',
    fields: ['message.content'],
  })
  expect(probeAnswer(pair, chatCaller, cohereUpstream, usage)).toMatchObject({
    verdict: 'lossy',
    fields: expect.arrayContaining(['usage.prompt_tokens']),
  })
})

test('reasoning that is lost without a mention is a fault', () => {
  const pair = pairOf('gemini', 'gemini-3-pro-preview', {
    encodeAnswer: (answer, facts) =>
      codec.encodeAnswer(
        {
          ...answer,
          content: answer.content.map((part) => {
            if (part.type !== 'tool-call') return part
            const { seal: _seal, ...call } = part
            return call
          }),
        },
        facts,
      ),
  })
  expect(() => probeLoop(pair, chatCaller, geminiUpstream)).toThrow(ConformanceFault)
})

test('a broken stream that looks whole to the caller is a fault', () => {
  const pair = pairOf('cohere', 'command-a-03-2025', {
    createEventEncoder(request, facts) {
      const encoder = codec.createEventEncoder(request, facts)
      return {
        push: (event) => encoder.push(event),
        end: () => encoder.end(),
        encodeFailure: () => '',
      }
    },
  })
  expect(() => probeFailures(pair, chatCaller, cohereUpstream)).toThrow('not told')
})
