import { expect, test } from 'bun:test'
import { isRunning } from '../test/support/is-running.ts'
import { pollUntil } from '../test/support/poll-until.ts'
import { runCommand } from './run-command.ts'

test('the exit code and both streams come back', async () => {
  const result = await runCommand(['sh', '-c', 'echo out; echo err >&2; exit 3'], {
    timeLimitMs: 10_000,
    capture: true,
  })
  expect(result).toMatchObject({ exitCode: 3, timedOut: false })
  expect(result.output).toContain('out')
  expect(result.output).toContain('err')
})

test('a program past its limit is ended, together with its children', async () => {
  // A busy machine may need longer to start the program, so the limit grows.
  for (const timeLimitMs of [300, 3_000, 30_000]) {
    const result = await runCommand(['sh', '-c', 'sleep 60 & echo $!; wait'], {
      timeLimitMs,
      capture: true,
    })
    expect(result).toMatchObject({ exitCode: null, timedOut: true })
    if (result.output === '') continue
    await untilEnded(Number(result.output.trim()))
    return
  }
  throw new Error('it was never started in time')
})

test('a child that outlives its program is ended', async () => {
  const result = await runCommand(['sh', '-c', 'sleep 60 & echo $!'], {
    timeLimitMs: 10_000,
    capture: true,
  })
  expect(result.exitCode).toBe(0)
  await untilEnded(Number(result.output.trim()))
})

test('a program has no standard input to wait for', async () => {
  const result = await runCommand(['cat'], { timeLimitMs: 10_000, capture: true })
  expect(result).toMatchObject({ exitCode: 0, output: '' })
})

async function untilEnded(pid: number): Promise<void> {
  await pollUntil(`the end of ${pid}`, () => !isRunning(pid))
}
