import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { type KeptRows, type Overdue, RetentionHorizon } from './retention-horizon.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const KEPT_MS = 30 * DAY_MS

function start() {
  const clock = new ScriptedClock()
  const told: Overdue[] = []
  const horizon = new RetentionHorizon({
    keptMs: KEPT_MS,
    clock,
    onOverdue: (overdue) => told.push(overdue),
  })
  const begunAt = clock.now()
  /** Rows of a log that was written all the time. */
  const rowsOf = (overdueMs: number): KeptRows => ({
    oldestMs: begunAt - KEPT_MS - overdueMs,
    newestMs: clock.now(),
  })
  return { clock, told, horizon, begunAt, rowsOf }
}

test('rows due since the last pass go at once, without a notice', () => {
  const { horizon, told, begunAt, rowsOf } = start()
  expect(horizon.cut(rowsOf(2 * HOUR_MS))).toBe(begunAt - KEPT_MS)
  expect(told).toEqual([])
})

test('rows within the kept time of the newest row stay, even long after it', () => {
  const { horizon, clock, begunAt } = start()
  const rows = { oldestMs: begunAt - KEPT_MS + HOUR_MS, newestMs: begunAt }
  clock.jump(365 * DAY_MS)
  expect(horizon.cut(rows)).toBe(begunAt - KEPT_MS)
})

test('rows dated ahead count as of now', () => {
  const { horizon, begunAt } = start()
  expect(horizon.cut({ oldestMs: begunAt - KEPT_MS, newestMs: begunAt + 365 * DAY_MS })).toBe(
    begunAt - KEPT_MS,
  )
})

test.each([
  ['three hours', 3 * HOUR_MS, 0],
  ['a day', DAY_MS, 1],
  ['a year', 365 * DAY_MS, 1],
])(
  'a clock that jumps ahead by %s deletes nothing for hours of real time',
  (_, jumpMs, announcements) => {
    const { horizon, clock, told, begunAt } = start()
    const rows = { oldestMs: begunAt - KEPT_MS, newestMs: begunAt }
    expect(horizon.cut(rows)).toBe(begunAt - KEPT_MS)
    clock.jump(jumpMs)
    for (let hour = 0; hour < 6; hour += 1) {
      // Calls continue, dated by the same clock.
      expect(horizon.cut({ ...rows, newestMs: clock.now() })).toBeUndefined()
      clock.pass(HOUR_MS - 1)
    }
    expect(told.map(({ stage }) => stage)).toEqual(Array(announcements).fill('announced'))
    // The clock is correct again.
    clock.jump(-jumpMs)
    const dueMs = clock.now() - KEPT_MS
    expect(dueMs - rows.oldestMs).toBeLessThan(6 * HOUR_MS)
    expect(horizon.cut({ ...rows, newestMs: begunAt + jumpMs }) ?? 0).toBeLessThanOrEqual(dueMs)
  },
)

test('rows of a day may go without a notice, and not a millisecond more', () => {
  const { horizon, told, rowsOf } = start()
  expect(horizon.cut(rowsOf(DAY_MS))).toBeUndefined()
  expect(told).toEqual([])
  expect(horizon.cut(rowsOf(DAY_MS + 1))).toBeUndefined()
  expect(told).toHaveLength(1)
})

test('at most two hours of rows go at once', () => {
  const { horizon, rowsOf } = start()
  expect(horizon.cut(rowsOf(2 * HOUR_MS + 1))).toBeUndefined()
})

test('more rows go after a wait, a day of them with each pass, and the wait is announced', () => {
  const { horizon, clock, told, rowsOf } = start()
  expect(horizon.cut(rowsOf(10 * DAY_MS))).toBeUndefined()
  expect(told).toMatchObject([{ stage: 'announced', waitMs: 6 * HOUR_MS }])
  clock.pass(6 * HOUR_MS - 1)
  expect(horizon.cut(rowsOf(10 * DAY_MS))).toBeUndefined()
  clock.pass(1)
  const cuts: number[] = []
  let rows = rowsOf(10 * DAY_MS)
  for (let pass = 0; pass < 9; pass += 1) {
    const cut = horizon.cut(rows) ?? Number.NaN
    expect(cut - rows.oldestMs).toBe(DAY_MS)
    cuts.push(cut)
    rows = { ...rows, oldestMs: cut }
  }
  expect(told.map(({ stage }) => stage)).toEqual(['announced', 'begun'])
  // The last part is less than a day: the six hours of waiting and the tenth day.
  expect(horizon.cut(rows)).toBe(rows.oldestMs + DAY_MS)
  rows = { ...rows, oldestMs: rows.oldestMs + DAY_MS }
  expect(horizon.cut(rows)).toBe(clock.now() - KEPT_MS)
})

test('a wait starts again when due rows come back', () => {
  const { horizon, clock, told, rowsOf } = start()
  expect(horizon.cut(rowsOf(10 * DAY_MS))).toBeUndefined()
  clock.pass(6 * HOUR_MS)
  expect(horizon.cut(rowsOf(10 * DAY_MS))).toBeDefined()
  expect(horizon.cut({ oldestMs: clock.now() - KEPT_MS, newestMs: clock.now() })).toBeDefined()
  expect(horizon.cut(rowsOf(10 * DAY_MS))).toBeUndefined()
  expect(told.map(({ stage }) => stage)).toEqual(['announced', 'begun', 'announced'])
})
