/**
 * Every translated stream through the accumulators of the published SDKs: the result equals the
 * whole answer, wherever the bytes are cut.
 */
import { describe, expect, test } from 'bun:test'
import { IS_LONG } from '../support/chaos-form.ts'
import { STREAMED_SAMPLES } from '../support/wire-grid/answer-kinds.ts'
import {
  ask,
  type Cell,
  GRID_CALLERS,
  GRID_UPSTREAMS,
  isRelayed,
  type Sample,
  toScript,
} from '../support/wire-grid/pairs.ts'
import { accumulate, readByAiSdk } from '../support/wire-grid/published-sdks.ts'
import { sampleOf, TEXT } from '../support/wire-grid/samples.ts'

const PAIRS = GRID_CALLERS.flatMap((caller) =>
  GRID_UPSTREAMS.map((upstream) => ({ caller, upstream, isStream: true })),
).filter((cell) => !isRelayed(cell))

const SAMPLES = PAIRS.flatMap((cell) =>
  Object.entries(STREAMED_SAMPLES).flatMap(([name, make]) => {
    const sample = make(cell)
    const title = `${cell.caller.path}: ${name} of ${cell.upstream.dialect}`
    return sample === undefined ? [] : [{ title, cell, sample }]
  }),
)

async function textOf(cell: Cell, sample: Sample): Promise<string> {
  const { seen } = await ask(cell, { answers: [toScript(cell, sample)] })
  expect([seen.status, seen.ending]).toEqual([200, 'whole'])
  return seen.text
}

function inBytes(sample: Sample): Sample {
  const bytes = Buffer.concat(sample.stream.map((piece) => Buffer.from(piece)))
  return { ...sample, stream: Array.from(bytes, (byte) => Uint8Array.of(byte)) }
}

/** OpenAI's own SDK keeps no reasoning of chat completions, so the comparison omits reasoning. */
function read({ caller }: Cell, answer: Parameters<Cell['caller']['kit']['readAnswer']>[0]) {
  const seen = caller.kit.readAnswer(answer)
  return caller.dialect === 'openai-chat' ? { ...seen, reasoning: '' } : seen
}

test.each(SAMPLES)('$title', async ({ cell, sample }) => {
  const { dialect } = cell.caller
  const whole = await textOf({ ...cell, isStream: false }, sample)
  const expected = read(cell, JSON.parse(whole))
  const expectedByAiSdk = await readByAiSdk(dialect, whole, false)
  for (const [upstream, step] of [[sample] as const, [inBytes(sample), 1] as const]) {
    const text = await textOf(cell, upstream)
    expect(read(cell, await accumulate(dialect, text, step))).toEqual(expected)
    expect(await readByAiSdk(dialect, text, true, step)).toEqual(expectedByAiSdk)
  }
})

const BYTES_BETWEEN_CUTS = IS_LONG ? 1 : 11

describe('with its first cut at any byte', () => {
  const readable = GRID_CALLERS.filter(({ dialect }) => dialect !== 'gatehouse-chat')
  test.each(readable.map((caller) => [caller.path, caller] as const))(
    '%s',
    async (_, caller) => {
      const [cell] = PAIRS.filter((pair) => pair.caller === caller)
      if (cell === undefined) throw new Error('There is no such pair.')
      const text = await textOf(cell, sampleOf(cell.upstream, TEXT))
      const whole = await accumulate(caller.dialect, text)
      const { length } = Buffer.from(text)
      for (let at = 1; at < length; at += BYTES_BETWEEN_CUTS)
        expect(await accumulate(caller.dialect, text, at)).toEqual(whole)
    },
    60_000,
  )
})
