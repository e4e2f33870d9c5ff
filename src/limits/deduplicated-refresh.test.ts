import { expect, test } from 'bun:test'
import { DeduplicatedRefresh } from './deduplicated-refresh.ts'

function start() {
  const clock = { nowMs: 0 }
  const asked: (readonly string[])[] = []
  const looks = new DeduplicatedRefresh({ maxAgeMs: 500, now: () => clock.nowMs })
  return { clock, asked, looks }
}

test('callers side by side and shortly after share one look, and only the missing part is read', async () => {
  const { clock, asked, looks } = start()
  const held = Promise.withResolvers<void>()
  const look = (missing: readonly string[]) => {
    asked.push(missing)
    return held.promise
  }
  let isDone = false
  const first = looks.refresh(['a', 'b'], look)
  const second = looks.refresh(['b', 'c'], look).then(() => {
    isDone = true
  })
  expect(asked).toEqual([['a', 'b'], ['c']])
  await Promise.resolve()
  expect(isDone).toBe(false)
  held.resolve()
  await Promise.all([first, second])
  clock.nowMs = 499
  await looks.refresh(['a', 'b', 'c'], look)
  expect(asked).toHaveLength(2)
  clock.nowMs = 500
  await looks.refresh(['a'], look)
  expect(asked.at(-1)).toEqual(['a'])
})

test('a failed look rejects its callers, and the next caller looks again', async () => {
  const { clock, asked, looks } = start()
  const fail = async () => {
    throw new Error('away')
  }
  await expect(looks.refresh(['a'], fail)).rejects.toThrow('away')
  clock.nowMs = 500
  await looks.refresh(['a'], async (missing) => void asked.push(missing))
  expect(asked).toEqual([['a']])
})
