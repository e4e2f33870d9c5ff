import { afterEach, expect, test } from 'bun:test'
import { pollUntil } from '../../test/support/poll-until.ts'
import { Reconciliation } from './reconciliation.ts'

let reconciliation: Reconciliation | undefined
afterEach(() => reconciliation?.stop())

test('it goes on reading, even after a failure, and reads soon after an event', async () => {
  let reads = 0
  const failures: unknown[] = []
  reconciliation = new Reconciliation({
    reconcile: async () => {
      reads += 1
      if (reads === 2) throw new Error('away')
    },
    onFailure: (error) => failures.push(error),
    // The last delay is too long for a test to reach.
    delaysMs: [1, 1, 1, 3_600_000],
  })
  reconciliation.begin()
  await pollUntil('three', () => reads === 3)
  await Bun.sleep(20)
  expect([reads, failures.length]).toEqual([3, 1])
  reconciliation.begin()
  await pollUntil('three more', () => reads === 6)
})

test('repeated events do not delay a reading', async () => {
  let reads = 0
  reconciliation = new Reconciliation({
    reconcile: async () => {
      reads += 1
    },
    onFailure: () => {},
    delaysMs: [100, 3_600_000],
  })
  await pollUntil('two', () => {
    reconciliation?.begin()
    return reads === 2
  })
})

test('events while a reading is due cause one more reading after it, and no further one', async () => {
  let reads = 0
  reconciliation = new Reconciliation({
    reconcile: async () => {
      reads += 1
    },
    onFailure: () => {},
    delaysMs: [10, 3_600_000],
  })
  reconciliation.begin()
  reconciliation.begin()
  reconciliation.begin()
  await pollUntil('two', () => reads === 2)
  await Bun.sleep(30)
  expect(reads).toBe(2)
})

test('it starts again after a stop, even if the first reading was not done', async () => {
  let reads = 0
  reconciliation = new Reconciliation({
    reconcile: async () => {
      reads += 1
    },
    onFailure: () => {},
    delaysMs: [10, 3_600_000],
  })
  reconciliation.begin()
  reconciliation.stop()
  reconciliation.begin()
  await pollUntil('one', () => reads === 1)
})

test('a long reading is not repeated soon: a hundredth of the time goes into it', async () => {
  let reads = 0
  reconciliation = new Reconciliation({
    reconcile: async () => {
      await Bun.sleep(50)
      reads += 1
    },
    onFailure: () => {},
    delaysMs: [1],
  })
  reconciliation.begin()
  await pollUntil('the first', () => reads === 1)
  await Bun.sleep(100)
  expect(reads).toBe(1)
})

test('it reads nothing more once stopped, and a failure of a reading under way is not reported', async () => {
  let reads = 0
  const failures: unknown[] = []
  const { promise, reject } = Promise.withResolvers<void>()
  reconciliation = new Reconciliation({
    reconcile: () => {
      reads += 1
      return promise
    },
    onFailure: (error) => failures.push(error),
    delaysMs: [1],
  })
  reconciliation.begin()
  await pollUntil('the first', () => reads === 1)
  reconciliation.stop()
  reject(new Error('closed'))
  await Bun.sleep(20)
  expect([reads, failures.length]).toEqual([1, 0])
})
