/** Long work rests once it has had its share of the event loop, and not before. */
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
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

/** @returns how often it rested */
async function work(turns: LoopTurns, steps: number, stepMs: number): Promise<number> {
  const before = sleep.mock.calls.length
  for (let step = 0; step < steps; step += 1) {
    nowMs += stepMs
    await turns.next()
  }
  return sleep.mock.calls.length - before
}

test('ten milliseconds of work need no rest, then each one is followed by a rest', async () => {
  const turns = new LoopTurns()
  expect(await work(turns, 21, 0.5)).toBe(0)
  expect(await work(turns, 1, 0.5)).toBe(1)
  expect(await work(turns, 4, 0.5)).toBe(2)
})

test('rests begin at once, and come as seldom as configured', async () => {
  const turns = new LoopTurns({ unrestedMs: 0, workMs: 2 })
  expect(await work(turns, 3, 0.5)).toBe(0)
  expect(await work(turns, 1, 0.5)).toBe(1)
  expect(await work(turns, 8, 0.5)).toBe(2)
})

test('time in which other work ran does not count', async () => {
  const turns = new LoopTurns({ unrestedMs: 0 })
  nowMs += 50
  turns.begin()
  expect(await work(turns, 1, 0.5)).toBe(0)
})
