import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { type ClockStep, watchClock } from './clock.ts'

const HOUR_MS = 3_600_000

function start() {
  const clock = new ScriptedClock()
  const steps: ClockStep[] = []
  const stop = watchClock(clock, (step) => steps.push(step))
  return { clock, steps, stop }
}

test('passing time is not a step, however much of it', async () => {
  const { clock, steps } = start()
  await clock.advance(60_000)
  expect(steps).toEqual([])
})

test.each([-365 * 24 * HOUR_MS, -HOUR_MS, -2_000, 2_000, HOUR_MS, 365 * 24 * HOUR_MS])(
  'a clock that is set by %d ms is noticed once, within a second',
  async (ms) => {
    const { clock, steps } = start()
    await clock.advance(10_500)
    clock.jump(ms)
    await clock.advance(500)
    const toMs = clock.now()
    expect(steps).toEqual([{ fromMs: toMs - ms, toMs }])
    await clock.advance(60_000)
    expect(steps).toHaveLength(1)
  },
)

test('a clock adjusted a little at a time is reported when that adds up', async () => {
  const { clock, steps } = start()
  for (let second = 0; second < 19; second += 1) {
    clock.jump(100)
    await clock.advance(1_000)
  }
  expect(steps).toEqual([])
  clock.jump(100)
  await clock.advance(1_000)
  expect(steps.map(({ fromMs, toMs }) => toMs - fromMs)).toEqual([2_000])
})

test('nothing is reported after the watch has ended', async () => {
  const { clock, steps, stop } = start()
  stop()
  clock.jump(HOUR_MS)
  await clock.advance(10_000)
  expect(steps).toEqual([])
  expect(clock.pending).toBe(0)
})
