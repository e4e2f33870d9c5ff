import { expect, test } from 'bun:test'
import { SingleFlight } from './single-flight.ts'

test('no caller gets a run that began before its call, and all waiting callers share the next one', async () => {
  const runs: PromiseWithResolvers<void>[] = []
  const flight = new SingleFlight(() => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  })
  const done: string[] = []
  const ask = (name: string) => flight.run().then(() => done.push(name))
  const first = ask('first')
  const others = [ask('second'), ask('third')]
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await first
  await Bun.sleep(1)
  expect(done).toEqual(['first'])
  expect(runs).toHaveLength(2)
  runs[1]?.resolve()
  await Promise.all(others)
  expect(done).toEqual(['first', 'second', 'third'])
})

test('a call after all earlier runs have ended gets a new run, however they ended', async () => {
  let runs = 0
  const flight = new SingleFlight(async () => {
    runs += 1
    if (runs === 2) throw new Error('failed')
  })
  for (let round = 0; round < 3; round += 1) {
    await Promise.allSettled([flight.run(), flight.run()])
    await flight.run()
  }
  expect(runs).toBe(9)
})

test('two runs never overlap, even if a call comes in the moment in which one ends', async () => {
  let running = 0
  let most = 0
  const flight = new SingleFlight(async () => {
    running += 1
    most = Math.max(most, running)
    await Bun.sleep(Math.random() * 2)
    running -= 1
    if (Math.random() < 0.3) throw new Error('failed')
  })
  const ask = () => flight.run().catch(() => {})
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        await ask().then(ask)
        if (turn % 3 === 0) await Bun.sleep(Math.random())
      }
    }),
  )
  expect(most).toBe(1)
})
