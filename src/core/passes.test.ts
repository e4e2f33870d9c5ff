import { expect, test } from 'bun:test'
import { HourlyWork, Passes } from './passes.ts'

/** Longer than the pauses of these tests, so an unwanted pass would begin in this time. */
const A_WHILE_MS = 30

/** A job whose passes end when the test decides, and report when they begin. */
function createHeldJob() {
  const failures: unknown[] = []
  let begun = Promise.withResolvers<void>()
  let held = Promise.withResolvers<void>()
  let count = 0
  const passes = new Passes({
    firstMs: 1,
    pauseMs: 1,
    onFailure: (error) => failures.push(error),
    pass: () => {
      count += 1
      held = Promise.withResolvers()
      begun.resolve()
      return held.promise
    },
  })
  return {
    passes,
    failures,
    count: () => count,
    next: async () => {
      await begun.promise
      begun = Promise.withResolvers()
    },
    end: () => held.resolve(),
    fail: (error: Error) => held.reject(error),
  }
}

test('a pass begins only after the one before has ended', async () => {
  const job = createHeldJob()
  job.passes.start()
  await job.next()
  await Bun.sleep(A_WHILE_MS)
  expect(job.count()).toBe(1)
  job.end()
  await job.next()
  expect(job.count()).toBe(2)
  job.end()
  await job.passes.stop()
})

test('a failed pass is reported, and the next one comes', async () => {
  const job = createHeldJob()
  job.passes.start()
  await job.next()
  const failure = new Error('the store is away')
  job.fail(failure)
  await job.next()
  expect(job.failures).toEqual([failure])
  job.end()
  await job.passes.stop()
  expect(job.failures).toHaveLength(1)
})

test('a stop tells the pass under way, waits for it, and is followed by none', async () => {
  const job = createHeldJob()
  job.passes.start()
  await job.next()
  const { signal } = job.passes
  expect(signal.aborted).toBe(false)
  let isStopped = false
  const stopped = job.passes.stop().then(() => {
    isStopped = true
  })
  expect(signal.aborted).toBe(true)
  await Bun.sleep(A_WHILE_MS)
  expect(isStopped).toBe(false)
  job.end()
  await stopped
  await Bun.sleep(A_WHILE_MS)
  expect(job.count()).toBe(1)
})

test('a stop before the first pass leaves none, and a start afterwards begins anew', async () => {
  const job = createHeldJob()
  job.passes.start()
  await job.passes.stop()
  await Bun.sleep(A_WHILE_MS)
  expect(job.count()).toBe(0)
  job.passes.start()
  await job.next()
  expect(job.passes.signal.aborted).toBe(false)
  job.end()
  await job.passes.stop()
})

test('hourly passes begin after a sixtieth of their interval, and pause for all of it', async () => {
  let count = 0
  class Counted extends HourlyWork {
    override async run(): Promise<void> {
      count += 1
    }
  }
  const work = new Counted({ intervalMs: 18_000, onFailure: () => {} })
  work.start()
  expect(count).toBe(0)
  // Timers end in the order of their due times, however busy the machine is.
  await Bun.sleep(200)
  expect(count).toBe(0)
  await Bun.sleep(200)
  expect(count).toBe(1)
  await work.stop()
})
