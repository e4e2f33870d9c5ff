import { expect, test } from 'bun:test'
import { RestartSchedule } from './worker-group.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

test('a worker that has served for long is restarted soon, each time', () => {
  const schedule = new RestartSchedule([0], () => 1)
  expect([schedule.ended(0, HOUR), schedule.ended(0, HOUR)]).toEqual([200, 200])
  expect(schedule.isHopeless).toBeFalse()
})

test('quick failures in a row wait longer and longer, up to a bound', () => {
  const schedule = new RestartSchedule([0, 1], () => 1)
  const delays = Array.from({ length: 9 }, () => schedule.ended(0, SECOND))
  expect(delays).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000])
  expect(schedule.ended(0, HOUR)).toBe(200)
})

test('the delay is spread from half of it to the whole', () => {
  expect(new RestartSchedule([0], () => 0).ended(0, SECOND)).toBe(100)
})

test('the schedule is hopeless once every worker has failed quickly five times in a row', () => {
  const schedule = new RestartSchedule([0, 4])
  for (let failure = 0; failure < 5; failure++) schedule.ended(0, SECOND)
  for (let failure = 0; failure < 4; failure++) schedule.ended(4, SECOND)
  expect(schedule.isHopeless).toBeFalse()
  schedule.ended(4, SECOND)
  expect(schedule.isHopeless).toBeTrue()
  schedule.ended(0, HOUR)
  expect(schedule.isHopeless).toBeFalse()
})
