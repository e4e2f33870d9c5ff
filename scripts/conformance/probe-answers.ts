/**
 * Tests whether an upstream's answer arrives at the caller, whole and as a stream, by running the
 * gateway's own code.
 */

import type { FeatureId } from '../../src/contract/conformance-features.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { StreamTap } from '../../src/wire/dialect.ts'
import type { CallerKit, SeenAnswer, SeenField } from '../../test/support/callers/caller.ts'
import { ANSWERED, CALLS } from '../../test/support/callers/materials.ts'
import {
  type AnswerScript,
  THOUGHT,
  type UpstreamKit,
  USAGE,
} from '../../test/support/upstream-answers/answer-script.ts'
import { askTarget, type Pair } from './ask-target.ts'
import { ConformanceFault, type Verdict } from './verdict.ts'

interface AnswerProbe {
  readonly scripts: readonly AnswerScript[]
  readonly fields: readonly SeenField[]
}

const said: AnswerScript = { text: ANSWERED, finish: 'stop' }

export const ANSWER_PROBES: Partial<Record<FeatureId, AnswerProbe>> = {
  answerText: { scripts: [said], fields: ['text'] },
  answerReasoning: { scripts: [{ ...said, reasoning: THOUGHT }], fields: ['text', 'reasoning'] },
  answerCalls: {
    scripts: [
      { calls: CALLS, finish: 'tool_calls' },
      { ...said, calls: CALLS, finish: 'tool_calls' },
    ],
    fields: ['text', 'calls'],
  },
  finish: {
    scripts: [
      said,
      { ...said, finish: 'length' },
      { ...said, finish: 'content_filter' },
      { calls: CALLS, finish: 'tool_calls' },
    ],
    fields: ['finish'],
  },
  usage: { scripts: [said], fields: ['input', 'output', 'cached', 'reasoningTokens'] },
}

export function probeAnswer(
  pair: Pair,
  kit: CallerKit,
  upstream: UpstreamKit,
  { scripts, fields }: AnswerProbe,
): Verdict {
  const asked = askTarget(pair, kit.plain)
  const isRelayed = asked.target.translator === undefined
  const lost = new Set<SeenField>()
  for (const script of scripts) {
    const whole = upstream.whole(script)
    if (whole === undefined) continue
    const pieces = upstream.stream(script)
    const streamed = relay(askTarget(pair, { ...kit.plain, ...kit.stream }).createTap(), pieces)
    if (isRelayed && streamed.text !== Buffer.concat(pieces).toString())
      throw new ConformanceFault('a relayed stream was changed')
    if (streamed.tap.verdict !== 'complete')
      throw new ConformanceFault('a whole stream does not end as one')
    const expected = toExpected(script)
    for (const seen of [kit.readAnswer(asked.convert(whole)), kit.readStream(streamed.text)])
      for (const field of fields) if (!Bun.deepEquals(seen[field], expected[field])) lost.add(field)
  }
  if (lost.size > 0) return { verdict: 'lossy', fields: [...lost].map((field) => kit.names[field]) }
  return { verdict: isRelayed ? 'relayed' : 'lossless' }
}

export function probeFailures(pair: Pair, kit: CallerKit, upstream: UpstreamKit): Verdict {
  const asked = askTarget(pair, { ...kit.plain, ...kit.stream })
  const pieces = upstream.stream(said)
  const begun = pieces.slice(0, Math.ceil(pieces.length / 2))
  const failed = relay(asked.createTap(), [...begun, upstream.failure])
  const cut = relay(asked.createTap(), begun)
  const told =
    cut.text +
    Buffer.from(cut.tap.encodeFailure(new GatewayError('upstream_error', 'cut'))).toString()
  if (failed.tap.verdict !== 'failed' || cut.tap.verdict === 'complete')
    throw new ConformanceFault('a broken stream passes for a whole one')
  for (const text of [failed.text, told]) {
    const { isWhole, isFailed } = kit.readEnd(text)
    if (isWhole || !isFailed)
      throw new ConformanceFault('the caller is not told that the stream broke')
  }
  return { verdict: asked.target.translator === undefined ? 'relayed' : 'lossless' }
}

function relay(
  tap: StreamTap,
  pieces: readonly Uint8Array[],
): { readonly tap: StreamTap; readonly text: string } {
  let out = ''
  for (const piece of pieces) {
    const { now, held } = tap.push(piece)
    out += now + held
  }
  const { now, held } = tap.end()
  return { tap, text: Buffer.from(out + now + held, 'latin1').toString() }
}

function toExpected({ text = '', reasoning = '', calls = [], finish }: AnswerScript): SeenAnswer {
  return {
    text,
    reasoning,
    calls: calls.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) as unknown })),
    finish,
    input: USAGE.input,
    output: USAGE.output,
    cached: USAGE.cached,
    reasoningTokens: USAGE.reasoning,
  }
}
