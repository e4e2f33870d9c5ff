/** A turn that holds the event loop, whatever the watch did before it. */
import { expect, test } from 'bun:test'
import { threadCpuMicros } from '../cpu-clock.ts'
import { measureHold } from './longest-hold.ts'

const HELD_MS = 12

function hold(): void {
  const untilMicros = threadCpuMicros() + HELD_MS * 1_000
  while (threadCpuMicros() < untilMicros);
}

test('a turn that holds the loop is seen whole, also after a while in which nothing was done', async () => {
  const held = await measureHold(async () => {
    await Bun.sleep(5)
    hold()
    await Bun.sleep(5)
  })
  expect(held.loopCpuMs).toBeGreaterThanOrEqual(HELD_MS)
  expect(held.longTurns).toBeGreaterThanOrEqual(1)
})
