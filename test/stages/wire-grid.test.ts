/**
 * Kinds of public bug reports over every pair of dialects, whole and streamed. Each cell of the
 * page `docs/generated/wire-grid.md` is a test here.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { CELLS, gridPage, KINDS, nameOf } from '../support/wire-grid/grid.ts'
import { GRID_UPSTREAMS, upstreamOf } from '../support/wire-grid/pairs.ts'
import { LOOP, sampleOf } from '../support/wire-grid/samples.ts'

const PAGE = join(import.meta.dir, '..', '..', 'docs', 'generated', 'wire-grid.md')

describe.each(KINDS.map((kind) => [`${kind.item}. ${kind.name}`, kind] as const))(
  '%s',
  (_, kind) => {
    for (const cell of CELLS)
      if (kind.absent?.(cell) === undefined) test(nameOf(cell), () => kind.check(cell))
  },
)

describe('a caller of Responses', () => {
  const members = { path: '/v1/responses', body: { model: 'g', input: 'hi' } }
  const open = (target: string) => new InProcessGateway({ gates: { g: [target] } })
  const { target, ...upstream } = upstreamOf('openai-responses')

  test.each([false, true])('gets the bytes of its own dialect, streamed: %p', async (isStream) => {
    const sample = sampleOf({ target, ...upstream }, LOOP)
    const gateway = open(target)
    gateway.upstream.script(isStream ? stream(sample.stream) : json(200, sample.whole))
    const { text } = await gateway.ask({ ...members, body: { ...members.body, stream: isStream } })
    expect(text).toBe(isStream ? sample.stream.join('') : JSON.stringify(sample.whole))
  })

  test.each(
    GRID_UPSTREAMS.filter(({ dialect }) => dialect !== 'openai-responses').flatMap((other) =>
      [false, true].map((isStream) => [other.dialect, isStream, other.target] as const),
    ),
  )('is refused at %s, streamed: %p', async (_, isStream, other) => {
    const gateway = open(other)
    const seen = await gateway.ask({ ...members, body: { ...members.body, stream: isStream } })
    expect([seen.status, gateway.upstream.sent.length]).toEqual([400, 0])
    expect(seen.text).toContain('provider_mismatch')
  })
})

test('the page shows these cells', async () => {
  if (process.env.GATEHOUSE_RENEW !== undefined) await Bun.write(PAGE, gridPage())
  const page = Bun.file(PAGE)
  expect((await page.exists()) ? await page.text() : '').toBe(gridPage())
})
