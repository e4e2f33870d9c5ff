import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { callsUnderWay } from './calls-under-way.ts'
import { LoopTurns } from './loop-turns.ts'

let nowMs = 0
let clock: { mockRestore(): void }
let sleep: { mockRestore(): void; readonly mock: { readonly calls: readonly unknown[] } }
beforeEach(() => {
  nowMs = 0
  clock = spyOn(performance, 'now').mockImplementation(() => nowMs)
  sleep = spyOn(Bun, 'sleep').mockImplementation(async () => {
    nowMs += 100
  })
})
afterEach(() => {
  clock.mockRestore()
  sleep.mockRestore()
})

/** @returns the number of rests */
async function work(turns: LoopTurns, steps: number, stepMs: number): Promise<number> {
  const before = sleep.mock.calls.length
  for (let step = 0; step < steps; step += 1) {
    nowMs += stepMs
    await turns.next()
  }
  return sleep.mock.calls.length - before
}

/** Far enough from the last call. */
const LATER_MS = 1_000_000

test('others have their turn and nothing rests where no calls are served', async () => {
  nowMs = LATER_MS
  expect(await work(new LoopTurns(), 100, 5)).toBe(0)
})

test('half a millisecond of work is followed by a rest while a call is under way', async () => {
  nowMs = LATER_MS
  callsUnderWay.begin(nowMs)
  nowMs += LATER_MS
  const turns = new LoopTurns()
  expect(await work(turns, 1, 0.25)).toBe(0)
  expect(await work(turns, 1, 0.25)).toBe(1)
  expect(await work(turns, 4, 0.25)).toBe(2)
  callsUnderWay.end()
  expect(await work(turns, 4, 0.25)).toBe(0)
})

test('work rests for a second after the last call began, and no longer', async () => {
  nowMs = LATER_MS
  callsUnderWay.begin(nowMs)
  callsUnderWay.end()
  expect(await work(new LoopTurns(), 1, 999)).toBe(1)
  nowMs = LATER_MS
  expect(await work(new LoopTurns(), 1, 1_000)).toBe(0)
})

test('time in which other work ran does not count', async () => {
  callsUnderWay.begin(nowMs)
  const turns = new LoopTurns()
  nowMs += 50
  turns.begin()
  expect(await work(turns, 1, 0.25)).toBe(0)
  callsUnderWay.end()
})
