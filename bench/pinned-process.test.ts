import { expect, test } from 'bun:test'
import { isRunning } from '../test/support/is-running.ts'
import { pollUntil } from '../test/support/poll-until.ts'
import { startPinned, untilAnswers } from './pinned-process.ts'

test('a program that ends before its first answer is reported at once, with its exit code or signal', async () => {
  const failing = startPinned('0', ['sh', '-c', 'exit 3'])
  const killed = startPinned('0', ['sh', '-c', 'kill -PWR $$; sleep 60'])

  await expect(untilAnswers(failing, 'http://127.0.0.1:1/')).rejects.toThrow(
    'has ended: exit code 3',
  )
  await expect(untilAnswers(killed, 'http://127.0.0.1:1/')).rejects.toThrow('has ended: SIGPWR')
})

test('what listens at a program’s port already is not measured in its place', async () => {
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('other') })
  const port = other.port ?? 0
  expect(() => startPinned('0', ['sleep', '60'], { port })).toThrow(
    `Port ${port} is already in use`,
  )
  await other.stop(true)
  await startPinned('0', ['sleep', '60'], { port }).stop()
})

test('a program ends with the bench, however that ends', async () => {
  const script = `import { startPinned } from './bench/pinned-process.ts'
    console.log(startPinned('0', ['sleep', '60']).pid)
    setInterval(() => {}, 1_000)`
  const bench = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const { value } = await bench.stdout.getReader().read()
  const pid = Number(Buffer.from(value ?? []).toString())
  expect(isRunning(pid)).toBeTrue()
  bench.kill('SIGKILL')
  await bench.exited
  await pollUntil('its end', () => !isRunning(pid))
})
