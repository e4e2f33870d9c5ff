/** Answers made to fill the memory of the process that relays them, over real sockets. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { chunk, LAST_CHUNK } from '../../support/http-bytes.ts'
import { residentBytes } from '../../support/process-memory.ts'
import { CHAT, openRawScene, type RawScene } from '../../support/raw-scene.ts'
import { answerHead, bodyAnswer } from '../../support/scripted-answers.ts'
import { testIf } from '../../support/skip-unless.ts'

setDefaultTimeout(180_000)

const MIB = 1024 * 1024
const GATE = 'the-gate'
const CALL = { model: GATE, messages: [{ role: 'user', content: 'hi' }] }
const isLinux = process.platform === 'linux'

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({ gates: { [GATE]: 'openai/gpt-4o' } })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

testIf(isLinux, 'needs /proc')(
  'a small answer that would inflate to half a gigabyte is refused and never inflated',
  async () => {
    const bomb = gzipSync(Buffer.alloc(512 * MIB, 0x20), { level: 1 })
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    scene.upstream.answer(bodyAnswer(200, '{}', headers))
    expect((await scene.post(CHAT, CALL)).status).toBe(502)
    const before = await residentBytes(scene.gatehouse.pid)
    scene.upstream.answer(bodyAnswer(200, bomb, headers))
    for (let round = 0; round < 3; round++) expect((await scene.post(CHAT, CALL)).status).toBe(502)
    expect((await residentBytes(scene.gatehouse.pid)) - before).toBeLessThan(64 * MIB)
  },
)

testIf(isLinux, 'needs /proc')(
  'a declared length of ten bytes does not let a far longer answer into memory',
  async () => {
    const piece = chunk(Buffer.alloc(MIB, 0x20))
    const total = 150
    scene.upstream.answer(async (exchange) => {
      await exchange.write(
        answerHead(200, {
          'content-type': 'application/json',
          'content-length': '10',
          'transfer-encoding': 'chunked',
        }),
      )
      for (let sent = 0; sent < total; sent++) await exchange.write(piece)
      await exchange.write(LAST_CHUNK)
    })
    const before = await residentBytes(scene.gatehouse.pid)
    const { url, key, pid } = scene.gatehouse
    const answer = await fetch(`${url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(CALL),
    })
    let highest = 0
    for await (const _ of answer.body ?? []) highest = Math.max(highest, await residentBytes(pid))
    expect([200, 502]).toContain(answer.status)
    // Either the runtime refuses such a head, or what comes flows through.
    expect(highest - before).toBeLessThan(100 * MIB)
  },
)
