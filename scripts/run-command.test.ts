/** A program's end, its output, its time limit and its children. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
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

test('a program past its limit is ended, and so is what it started', async () => {
  const result = await runCommand(['sh', '-c', 'sleep 60 & echo $!; wait'], {
    timeLimitMs: 300,
    capture: true,
  })
  expect(result).toMatchObject({ exitCode: null, timedOut: true })
  expect(await endsSoon(Number(result.output.trim()))).toBe(true)
})

test('a child that outlives its program is ended', async () => {
  const result = await runCommand(['sh', '-c', 'sleep 60 & echo $!'], { timeLimitMs: 10_000, capture: true })
  expect(result.exitCode).toBe(0)
  expect(await endsSoon(Number(result.output.trim()))).toBe(true)
})

test('nothing can wait for standard input', async () => {
  const result = await runCommand(['cat'], { timeLimitMs: 10_000, capture: true })
  expect(result).toMatchObject({ exitCode: 0, output: '' })
})

/** A kill is asked for before its target has gone. */
async function endsSoon(pid: number): Promise<boolean> {
  for (let look = 0; look < 200 && isRunning(pid); look += 1) await Bun.sleep(10)
  return !isRunning(pid)
}

/** A process that has ended but that nobody has asked about yet (a zombie) does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const status = `/proc/${pid}/stat`
  return !(existsSync(status) && readFileSync(status, 'utf8').includes(') Z '))
}
