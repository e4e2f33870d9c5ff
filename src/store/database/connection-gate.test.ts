import { expect, test } from 'bun:test'
import { ConnectionGate } from './connection-gate.ts'

class Refused extends Error {}
class NoneFree extends Error {}

class Scene {
  nowMs = 0
  isUp = true
  readonly attempts: number[] = []
  readonly gate: ConnectionGate

  constructor(maxWaiting = 100) {
    this.gate = new ConnectionGate({
      maxWaiting,
      isAway: (error) => error instanceof Refused,
      now: () => this.nowMs,
      random: () => 1,
    })
  }

  pass(): Promise<string> {
    return this.gate.pass(() => this.#connect(), false)
  }

  async #connect(): Promise<string> {
    this.attempts.push(this.nowMs)
    await Promise.resolve()
    if (!this.isUp) throw new Refused()
    return 'connection'
  }
}

test('one caller at a time tries a database that is away, less and less often', async () => {
  const scene = new Scene()
  scene.isUp = false
  for (; scene.nowMs < 10_000; scene.nowMs += 10) {
    const results = await Promise.allSettled([scene.pass(), scene.pass(), scene.pass()])
    for (const result of results)
      expect(result.status === 'rejected' && result.reason).toBeInstanceOf(Refused)
  }
  // Three had set out together before the first failure.
  expect(scene.attempts.slice(0, 8)).toEqual([0, 0, 0, 100, 300, 700, 1500, 2500])
  expect(scene.attempts.length).toBeLessThan(20)
})

test('all callers may ask again once the database is back', async () => {
  const scene = new Scene()
  scene.isUp = false
  await scene.pass().catch(() => {})
  scene.isUp = true
  expect(scene.pass()).rejects.toBeInstanceOf(Refused)
  scene.nowMs = 100
  expect(await scene.pass()).toBe('connection')
  expect(await Promise.all([scene.pass(), scene.pass()])).toEqual(['connection', 'connection'])
  expect(scene.attempts).toHaveLength(4)
})

test('an open connection may be used while no new one can be made', async () => {
  const scene = new Scene()
  scene.isUp = false
  await scene.pass().catch(() => {})
  expect(await scene.gate.pass(async () => 'the open one', true)).toBe('the open one')
})

test('a pool without a free connection does not count as a database that is away', async () => {
  const scene = new Scene()
  expect(scene.gate.pass(() => Promise.reject(new NoneFree()), false)).rejects.toBeInstanceOf(
    NoneFree,
  )
  expect(await scene.pass()).toBe('connection')
})

test('a caller behind too many others is refused at once', async () => {
  const scene = new Scene(2)
  const { promise, resolve } = Promise.withResolvers<string>()
  const waiting = [scene.gate.pass(() => promise, false), scene.gate.pass(() => promise, false)]
  expect(scene.pass()).rejects.toMatchObject({ code: '53300' })
  resolve('connection')
  await Promise.all(waiting)
  expect(await scene.pass()).toBe('connection')
})
