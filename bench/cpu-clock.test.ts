/** The clock of a thread, which the kernel writes into memory of this process. */
import { expect, test } from 'bun:test'
import { threadCpuMicros } from './cpu-clock.ts'

test('the clock writes into no memory but its own, whatever was collected since', () => {
  for (let round = 0; round < 200; round++) {
    const others = Array.from({ length: 4000 }, (_, index) => new Uint8Array(16 + (index % 64)))
    threadCpuMicros()
    expect(others.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([])
    if (round % 20 === 0) Bun.gc(true)
  }
})

test('the clock goes on while the thread works', () => {
  const before = threadCpuMicros()
  const until = performance.now() + 5
  while (performance.now() < until);
  expect(threadCpuMicros()).toBeGreaterThan(before)
})
