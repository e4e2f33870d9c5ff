/** Last-used times reach the store in steps, and none is lost when a step fails. */
import { expect, test } from 'bun:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { USES_PER_STATEMENT } from '../store/resources/save-last-used.ts'
import { UnsavedUses } from './unsaved-uses.ts'

const isCurrent = () => true
const placeOf = (number: number) => number

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

test('many uses are written in bounded steps, and other work runs between any two of them', async () => {
  const steps: number[] = []
  let turns = 0
  const turnsBefore: number[] = []
  const uses = new UnsavedUses<number>({
    isCurrent,
    placeOf,
    save: async (entries) => {
      steps.push(entries.length)
      turnsBefore.push(turns)
    },
  })
  for (const number of numbers(10 * USES_PER_STATEMENT + 1)) uses.add(number)
  let isOver = false
  const countTurns = async () => {
    for (; !isOver; turns += 1) await nextTurn()
  }
  const counting = countTurns()
  await uses.flush()
  isOver = true
  await counting
  expect(Math.max(...steps)).toBe(USES_PER_STATEMENT)
  expect(steps.reduce((sum, step) => sum + step)).toBe(10 * USES_PER_STATEMENT + 1)
  expect(new Set(turnsBefore).size).toBe(steps.length)
})

test('a use during a flush waits for the next flush, so that a flush ends', async () => {
  const saved: number[][] = []
  const uses = new UnsavedUses<number>({
    isCurrent,
    placeOf,
    save: async (entries) => {
      saved.push([...entries])
      uses.add(saved.length)
    },
  })
  uses.add(0)
  await uses.flush()
  await uses.flush()
  expect(saved).toEqual([[0], [1]])
})

test('steps before a failure are written once, and the rest the next time, except for deleted keys', async () => {
  const gone = USES_PER_STATEMENT + 1
  const all = numbers(3 * USES_PER_STATEMENT)
  const saved: number[] = []
  let fails = true
  const uses = new UnsavedUses<number>({
    isCurrent: (number) => number !== gone,
    placeOf,
    save: async (entries) => {
      if (fails && entries.includes(gone)) throw new Error('disk on fire')
      saved.push(...entries)
    },
  })
  for (const number of all) uses.add(number)
  await expect(uses.flush()).rejects.toThrow('disk on fire')
  expect(saved).toEqual(all.slice(0, USES_PER_STATEMENT))
  fails = false
  await uses.flush()
  expect(saved.toSorted((a, b) => a - b)).toEqual(all.filter((number) => number !== gone))
})

test('an entry that goes during a flush is not written, and one used again is, by the next flush', async () => {
  const all = numbers(3 * USES_PER_STATEMENT)
  const [again, gone] = [1, 2 * USES_PER_STATEMENT]
  let isFirst = true
  const saved: number[][] = []
  const uses = new UnsavedUses<number>({
    isCurrent,
    placeOf,
    save: async (entries) => {
      if (isFirst) {
        isFirst = false
        uses.delete(gone)
        uses.add(again)
      }
      saved.push([...entries])
    },
  })
  for (const number of all) uses.add(number)
  await uses.flush()
  expect(saved.flat()).toEqual(all.filter((number) => number !== gone))
  expect([uses.has(again), uses.has(gone), uses.has(0)]).toEqual([true, false, false])
  saved.length = 0
  await uses.flush()
  expect(saved).toEqual([[again]])
  expect(uses.has(again)).toBeFalse()
})

test('repeated failures of a flush lose no entry and write none twice', async () => {
  const all = numbers(4 * USES_PER_STATEMENT)
  const saved: number[] = []
  let step = 0
  const uses = new UnsavedUses<number>({
    isCurrent,
    placeOf,
    save: async (entries) => {
      step += 1
      if (step % 2 === 0) throw new Error('disk on fire')
      saved.push(...entries)
    },
  })
  for (const number of all) uses.add(number)
  for (let flushes = 0; flushes < 20; flushes += 1) await uses.flush().catch(() => {})
  expect(saved.toSorted((a, b) => a - b)).toEqual(all)
  expect(all.filter((number) => uses.has(number))).toEqual([])
})

test('uses are written in the order of places, whatever the order in which they came', async () => {
  const saved: number[] = []
  const uses = new UnsavedUses<number>({
    isCurrent,
    placeOf,
    save: async (entries) => void saved.push(...entries),
  })
  const all = numbers(2_003)
  for (const number of all) uses.add((number * 7_919) % all.length)
  await uses.flush()
  expect(saved).toEqual(all)
})

test('what is gone before the first step is not written', async () => {
  const all = numbers(3_000)
  const saved: number[] = []
  const uses = new UnsavedUses<number>({
    isCurrent,
    placeOf,
    save: async (entries) => void saved.push(...entries),
  })
  for (const number of all) uses.add(number)
  const flushing = uses.flush()
  uses.delete(7)
  await flushing
  expect(saved).toEqual(all.filter((number) => number !== 7))
})
