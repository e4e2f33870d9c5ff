import { expect, test } from 'bun:test'
import { createRetrySchedule } from './webhook-sender.ts'

test('the repetitions span about a day', () => {
  const schedule = createRetrySchedule({ random: () => 0.5 })
  const delays = Array.from({ length: 8 }, (_, index) => schedule.delayMs(index + 1) ?? Number.NaN)
  const hours = delays.reduce((sum, delay) => sum + delay, 0) / 3_600_000
  expect(hours).toBeGreaterThan(20)
  expect(hours).toBeLessThan(30)
  expect(schedule.delayMs(9)).toBeUndefined()
})
