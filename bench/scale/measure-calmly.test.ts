import { expect, test } from 'bun:test'
import { describeConditions, isCalm, measureCalmly } from './measure-calmly.ts'

test('a machine is calm while nobody takes its cores and it is as fast as it was', () => {
  expect(isCalm({ stolen: 0.005, paces: [12, 13] }, 12)).toBe(true)
  expect(isCalm({ stolen: 0.02, paces: [12, 12] }, 12)).toBe(false)
  expect(isCalm({ stolen: 0, paces: [12, 18] }, 12)).toBe(false)
  expect(isCalm({ stolen: 0, paces: [18, 18] }, 12)).toBe(false)
})

test('what it was like is told with the figures', () => {
  expect(describeConditions({ stolen: 0.0312, paces: [12.34, 18] })).toBe(
    'other guests took 3.1 % and one piece of work 12.3 and 18.0 ms',
  )
})

test('what meets its bars is measured once, and a failure is heard of', async () => {
  let measured = 0
  const judge = { isMet: () => true, report: () => {}, describe: String }
  const { result, conditions } = await measureCalmly(async () => (measured += 1), judge)
  expect({ result, measured }).toEqual({ result: 1, measured: 1 })
  expect(conditions.paces.every((pace) => pace > 0)).toBe(true)
})
