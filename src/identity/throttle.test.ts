import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Throttle } from './sign-in-attempts.ts'

function create(options: { attempts?: number; maxNames?: number } = {}) {
  const time = { now: 0 }
  const throttle = new Throttle({ attempts: 3, windowMs: 1000, ...options, now: () => time.now })
  return { time, throttle }
}

test('a name has its attempts, then waits for the end of the window that its first one began', () => {
  const { time, throttle } = create()
  expect([throttle.take('a'), throttle.take('a'), throttle.take('a')]).toEqual([0, 0, 0])
  time.now = 400
  expect(throttle.take('a')).toBe(600)
  expect(throttle.take('b')).toBe(0)
  time.now = 1000
  expect(throttle.take('a')).toBe(0)
})

test('an attempt that did not count is given back', () => {
  const { throttle } = create({ attempts: 1 })
  throttle.take('a')
  expect(throttle.take('a')).toBeGreaterThan(0)
  throttle.giveBack('a')
  expect(throttle.take('a')).toBe(0)
  throttle.giveBack('unheard of')
})

test('a throttle never holds more names than allowed, and never admits more attempts in a window', () => {
  const steps = fc.array(fc.record({ name: fc.integer({ min: 0, max: 9 }), waitMs: fc.nat(400) }), {
    maxLength: 200,
  })
  fc.assert(
    fc.property(steps, fc.integer({ min: 10, max: 12 }), (list, maxNames) => {
      const { time, throttle } = create({ maxNames })
      const taken = new Map<number, number[]>()
      for (const { name, waitMs } of list) {
        time.now += waitMs
        if (throttle.take(String(name)) === 0)
          taken.set(name, [...(taken.get(name) ?? []), time.now])
        expect(throttle.size).toBeLessThanOrEqual(maxNames)
      }
      // Windows begin with an attempt: twice the attempts fit into any span that is shorter than
      // one window.
      for (const times of taken.values()) {
        for (const start of times) {
          const within = times.filter((at) => at >= start && at < start + 1000)
          expect(within.length).toBeLessThanOrEqual(6)
        }
      }
    }),
  )
})

test('a flood of names pushes out the oldest ones', () => {
  const { throttle } = create({ attempts: 1, maxNames: 2 })
  for (const name of ['a', 'b', 'c']) throttle.take(name)
  expect(throttle.size).toBe(2)
  expect(throttle.take('c')).toBeGreaterThan(0)
  expect(throttle.take('a')).toBe(0)
})
