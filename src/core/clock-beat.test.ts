import { expect, test } from 'bun:test'
import { systemClock } from './clock.ts'

test('jobs of whole beats run in the same turn, none early, until they are ended', async () => {
  // `bun test` spins a core while it waits only for timers that keep no process alive.
  const awake = setTimeout(() => {}, 60_000)
  let turn = 0
  const turns: { first: number[]; second: number[] } = { first: [], second: [] }
  const begunAt = performance.now()
  let earliest = 0
  const endFirst = systemClock.every(500, () => {
    earliest ||= performance.now()
    turns.first.push(turn)
    setImmediate(() => {
      turn += 1
    })
  })
  const second = Promise.withResolvers<number>()
  const endSecond = systemClock.every(1_000, () => {
    turns.second.push(turn)
    second.resolve(performance.now())
  })
  expect((await second.promise) - begunAt).toBeGreaterThanOrEqual(1_000)
  expect(earliest - begunAt).toBeGreaterThanOrEqual(500)
  expect(turns.first).toContain(turns.second[0] ?? Number.NaN)
  endFirst()
  endSecond()
  const seen = turns.first.length
  await Bun.sleep(600)
  expect(turns.first).toHaveLength(seen)
  expect(turns.second).toHaveLength(1)
  clearTimeout(awake)
})

test('a job that throws does not stop the others', async () => {
  const program = `
    import { systemClock } from ${JSON.stringify(`${import.meta.dir}/clock.ts`)}
    process.on('uncaughtException', ({ message }) => console.log('heard', message))
    systemClock.every(500, () => { throw new Error('of one job') })
    systemClock.every(500, () => { console.log('the other ran'); process.exitCode = 0; setImmediate(() => process.exit()) })
    setTimeout(() => {}, 60_000)`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const said = await new Response(child.stdout).text()
  expect(said).toContain('heard of one job')
  expect(said).toContain('the other ran')
})
