/**
 * The order of a gate's targets: weights, the order of the remaining targets, and targets that rest
 * or are unknown.
 */
import { describe, expect, test } from 'bun:test'
import type { Gate } from '../../src/core/gate.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, pause, type Script, SILENCE, UNREACHABLE } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_ANSWER, chatBody, GATE } from '../support/stage-rows.ts'

function scene(gate: Partial<Gate> & Pick<Gate, 'targets'>, ...upstream: readonly Script[]) {
  const gateway = new InProcessGateway({ gates: { [GATE]: gate }, upstream })
  const ask = async (...scripts: readonly Script[]): Promise<string> => {
    gateway.upstream.script(...scripts)
    const before = gateway.upstream.sent.length
    await gateway.ask({ path: CHAT, body: chatBody() })
    const asked = gateway.upstream.sent.slice(before)
    return asked.map(({ body }) => (JSON.parse(body) as { model: string }).model).join(' ')
  }
  return { gateway, ask }
}

function weighted(weights: Readonly<Record<string, number | undefined>>) {
  const targets = Object.entries(weights).map(([name, weight]) => ({
    model: `openai/${name}`,
    weight,
  }))
  return { strategy: 'weighted' as const, targets }
}

const FAILING = (count: number): Script[] => Array<Script>(count).fill(UNREACHABLE)

describe('weighted', () => {
  test('each target comes first as often as its weight says, spread over the round', async () => {
    const { gateway, ask } = scene(weighted({ a: 5, b: 1, c: 1 }))
    const asked: string[] = []
    for (let call = 0; call < 14; call += 1) asked.push(await ask(CHAT_ANSWER))
    expect(asked.join('')).toBe('aabacaaaabacaa')
    await gateway.assertNothingIsLeft()
  })

  test('without weights all have the same share', async () => {
    const { ask } = scene(weighted({ a: undefined, b: undefined }))
    const asked = [await ask(CHAT_ANSWER), await ask(CHAT_ANSWER), await ask(CHAT_ANSWER)]
    expect(asked).toEqual(['a', 'b', 'a'])
  })

  test('the heaviest of the others follows when the first one fails', async () => {
    // Neither the order of the list nor its reverse.
    const { gateway, ask } = scene(weighted({ light: 1, first: 9, heavy: 5, spare: 0, middle: 3 }))
    expect(await ask(...FAILING(5))).toBe('first heavy middle light spare')
    await gateway.assertNothingIsLeft()
  })

  test('targets of the same weight keep the order of the list', async () => {
    const { ask } = scene(weighted({ first: 2, b: 1, a: 1, c: 1 }))
    expect(await ask(...FAILING(4))).toBe('first b a c')
  })

  test('a target of weight 0 is only tried when the others fail', async () => {
    const { ask } = scene(weighted({ spare: 0, a: 3 }))
    const asked = [
      await ask(CHAT_ANSWER),
      await ask(CHAT_ANSWER),
      await ask(...FAILING(1), CHAT_ANSWER),
    ]
    expect(asked).toEqual(['a', 'a', 'a spare'])
  })
})

describe('fastest', () => {
  const taking = (ms: number): Script => [pause(ms), ...CHAT_ANSWER]

  test('tries first a target without an answer, then the one with the shortest time to first byte', async () => {
    const targets = ['a', 'b', 'c'].map((name) => ({ model: `openai/${name}` }))
    const { ask } = scene({ strategy: 'fastest', targets })
    const first = [await ask(taking(300)), await ask(taking(100)), await ask(taking(200))]
    expect(first.toSorted()).toEqual(['a', 'b', 'c'])
    expect(await ask(...FAILING(3))).toBe(`${first[1]} ${first[2]} ${first[0]}`)
  })

  test('tries in every twentieth call the target idle for longest', async () => {
    const targets = ['slow', 'fast'].map((name) => ({ model: `openai/${name}` }))
    const { ask } = scene({ strategy: 'fastest', targets })
    const asked: string[] = []
    for (let call = 1; call <= 40; call += 1)
      asked.push(await ask(taking(asked.length === 0 ? 900 : 100)))
    expect(asked.map((name, index) => (name === 'slow' ? index + 1 : 0)).filter(Boolean)).toEqual([
      1, 20, 40,
    ])
  })
})

describe('a target that fails again and again', () => {
  const targets = ['sick', 'well'].map((name) => ({ model: `openai/${name}` }))

  test('rests for five seconds, is tried when all others fail, and by one call after that', async () => {
    const { gateway, ask } = scene({ targets })
    for (let call = 0; call < 5; call += 1)
      expect(await ask(UNREACHABLE, CHAT_ANSWER)).toBe('sick well')
    expect(await ask(CHAT_ANSWER)).toBe('well')
    expect(await ask(UNREACHABLE, CHAT_ANSWER)).toBe('well sick')
    await gateway.assertNothingIsLeft()
  })

  test('is tried by one call at a time when it has rested, and is first again when it answers', async () => {
    const { gateway, ask } = scene({ targets })
    for (let call = 0; call < 5; call += 1) await ask(UNREACHABLE, CHAT_ANSWER)
    await gateway.clock.advance(4_999)
    expect(await ask(CHAT_ANSWER)).toBe('well')
    await gateway.clock.advance(1)
    gateway.upstream.script([pause(1_000), ...CHAT_ANSWER], CHAT_ANSWER)
    const probing = gateway.begin({ path: CHAT, body: chatBody() })
    await gateway.clock.idle()
    const beside = gateway.begin({ path: CHAT, body: chatBody() })
    await gateway.clock.finish(Promise.all([probing.seen, beside.seen]))
    const [sick, well] = gateway.upstream.sent.slice(-2).map(({ body }) => JSON.parse(body).model)
    expect([sick, well]).toEqual(['sick', 'well'])
    expect(await ask(CHAT_ANSWER)).toBe('sick')
    await gateway.assertNothingIsLeft()
  })

  test('is tried by the next call when the one that tried it had no result', async () => {
    const { gateway, ask } = scene({ targets })
    for (let call = 0; call < 5; call += 1) await ask(UNREACHABLE, CHAT_ANSWER)
    await gateway.clock.advance(5_000)
    gateway.upstream.script([SILENCE])
    await gateway.ask({ path: CHAT, body: chatBody() }, { leavesAfterMs: 100 })
    expect(await ask(json(404, { error: { message: 'no such model' } }))).toBe('sick')
    expect(await ask(CHAT_ANSWER)).toBe('sick')
    expect(await ask(CHAT_ANSWER)).toBe('sick')
    await gateway.assertNothingIsLeft()
  })

  test('rests twice as long when the one that tried it failed too', async () => {
    const { gateway, ask } = scene({ targets })
    for (let call = 0; call < 5; call += 1) await ask(UNREACHABLE, CHAT_ANSWER)
    await gateway.clock.advance(5_000)
    expect(await ask(UNREACHABLE, CHAT_ANSWER)).toBe('sick well')
    await gateway.clock.advance(9_999)
    expect(await ask(CHAT_ANSWER)).toBe('well')
    await gateway.clock.advance(1)
    expect(await ask(CHAT_ANSWER)).toBe('sick')
  })

  test('rests as long as it requests, from the first time on', async () => {
    const { gateway, ask } = scene({ targets })
    const busy: Script = [
      {
        type: 'head',
        status: 429,
        headers: { 'retry-after': '30', 'content-type': 'application/json' },
      },
    ]
    expect(await ask(busy, CHAT_ANSWER)).toBe('sick well')
    await gateway.clock.advance(29_999)
    expect(await ask(CHAT_ANSWER)).toBe('well')
    await gateway.clock.advance(1)
    expect(await ask(CHAT_ANSWER)).toBe('sick')
  })
})
