import { expect, test } from 'bun:test'
import {
  describePace,
  describeQuietness,
  isQuiet,
  isSteady,
  measurePace,
  readTimes,
  shareBetween,
} from './quietness.ts'

const stat = (line: string) => `cpu  ${line} 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 1\n`

test('time counts as busy unless it is idle or stolen', () => {
  const before = readTimes(stat('100 10 50 1000 40 5 5 20'))
  const after = readTimes(stat('130 10 60 1130 60 5 15 20'))
  expect(shareBetween(before, after)).toEqual({ busy: 0.25, stolen: 0 })
})

test('time stolen by another guest is kept apart from time used here', () => {
  const before = readTimes(stat('0 0 0 0 0 0 0 0'))
  const after = readTimes(stat('10 0 0 80 0 0 0 10'))
  const look = shareBetween(before, after)
  expect(look.busy).toBeCloseTo(0.1)
  expect(look.stolen).toBeCloseTo(0.1)
})

test('one busy look of several makes the run a trial, and the page says so', () => {
  const quiet = { busy: 0.01, stolen: 0.002 }
  expect(isQuiet([quiet, quiet])).toBe(true)
  expect(describeQuietness([quiet, quiet])).toStartWith('The machine was quiet: at 2 checks')
  const looks = [quiet, { busy: 0.4, stolen: 0 }, quiet]
  expect(isQuiet(looks)).toBe(false)
  expect(describeQuietness(looks)).toStartWith('**The machine was not quiet**')
  expect(describeQuietness(looks)).toContain('at most 40.0 % of its cores')
  expect(isQuiet([{ busy: 0, stolen: 0.2 }])).toBe(false)
})

test('a machine whose pace changes within the steps makes it a trial, even without other load', () => {
  expect(isSteady([20, 24, 21])).toBe(true)
  expect(describePace([20, 24, 21])).toBe(
    'The pace of the machine was steady within the steps: one piece of work took 20.0 to 24.0 ms at 3 checks between the steps, and never a quarter more or less than at the check before.',
  )
  // It became slower once, for all contenders alike.
  const slower = [20, 20, 20, 20, 20, 30, 30, 30, 30, 30]
  expect(isSteady(slower)).toBe(true)
  expect(describePace(slower)).toContain('once a quarter')
  expect(isSteady([20, 41, 21])).toBe(false)
  expect(describePace([20, 41, 21])).toStartWith('**The pace of the machine was not steady**')
  expect(measurePace()).toBeGreaterThan(0)
})

test('results of earlier versions, without a pace, have no line about it', () => {
  expect(isSteady([])).toBe(true)
  expect(describePace([])).toBe('')
})
