import { beforeEach, expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { type Deadline, Deadlines, type DueCause } from './deadlines.ts'

let clock: ScriptedClock
let deadlines: Deadlines
let due: string[]

beforeEach(() => {
  clock = new ScriptedClock()
  deadlines = new Deadlines(clock)
  due = []
})

function wait(name: string, ms: number, more: Partial<Deadline> = {}): Deadline {
  const onDue = (cause: DueCause) => void due.push(`${name} ${cause}`)
  const deadline = { dueAt: deadlines.now() + ms, onDue, ...more }
  deadlines.add(deadline)
  return deadline
}

test('deadlines that fall due in one sweep fire in the order in which they began', async () => {
  for (const name of ['first', 'second', 'third']) wait(name, 10)
  wait('later', 1_000)
  await clock.advance(50)
  expect(due).toEqual(['first due', 'second due', 'third due'])
  expect(deadlines.size).toBe(1)
})

test('a deadline removed by another in the same sweep does not fire', async () => {
  const others: Deadline[] = []
  others.push(wait('before', 10))
  const endOthers = () => {
    for (const other of others) deadlines.remove(other)
  }
  wait('ends both', 10, { onDue: endOthers })
  others.push(wait('after', 10))
  await clock.advance(50)
  expect(due).toEqual(['before due'])
  expect(deadlines.size).toBe(0)
})

test('a deadline added twice is pending once, and one removed twice leaves the others alone', async () => {
  const twice = wait('twice', 10)
  deadlines.add(twice)
  wait('other', 10)
  expect(deadlines.size).toBe(2)
  deadlines.remove(twice)
  deadlines.remove(twice)
  expect(deadlines.size).toBe(1)
  await clock.advance(50)
  expect(due).toEqual(['other due'])
})

test('a deadline added again when it has fallen due falls due again', async () => {
  const again: Deadline = {
    dueAt: deadlines.now() + 10,
    onDue: () => {
      due.push('again')
      again.dueAt = deadlines.now() + 100
      if (due.length < 2) deadlines.add(again)
    },
  }
  deadlines.add(again)
  await clock.advance(500)
  expect(due).toEqual(['again', 'again'])
})

test('an abort counts after the first sweep, and is ignored once its wait is over', async () => {
  const leaving = new AbortController()
  const staying = new AbortController()
  wait('leaves', 1_000, { signal: leaving.signal })
  const over = wait('over', 1_000, { signal: staying.signal })
  await clock.advance(50)
  deadlines.remove(over)
  staying.abort()
  leaving.abort()
  expect(due).toEqual(['leaves cancelled'])
  expect(deadlines.size).toBe(0)
})

test('a shutdown ends all deadlines, and leaves pending the ones added by it', () => {
  wait('begins another', 1_000, { onDue: () => void wait('another', 1_000) })
  wait('other', 1_000)
  deadlines.expireAll()
  expect(due).toEqual(['other shutdown'])
  expect(deadlines.size).toBe(1)
})

test('no timer runs after the last wait is over, and the next wait starts one again', () => {
  const [first, second] = [wait('first', 1_000), wait('second', 1_000)]
  deadlines.remove(first)
  expect(clock.pending).toBe(1)
  deadlines.remove(second)
  expect(clock.pending).toBe(0)
  wait('next', 1_000)
  expect(clock.pending).toBe(1)
  deadlines.expireAll()
  expect(due).toEqual(['next shutdown'])
  expect(clock.pending).toBe(0)
})
