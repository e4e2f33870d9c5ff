/** A run's leftovers, of which nothing remains afterwards, whatever ended the run. */
import { afterEach, beforeEach, expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pollUntil } from '../test/support/poll-until.ts'
import { testIf } from '../test/support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../test/support/temporary-folder.ts'

const FIXTURE = join(import.meta.dir, 'run-in-folder.fixture.ts')
/** For a machine that has much other work. */
const PATIENT = { timeoutMs: 50_000 }
const onLinux = testIf(process.platform === 'linux', 'needs Linux, whose /proc tells what runs')

let folder: TemporaryFolder
beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(() => folder.remove())

function start(how: 'ends' | 'waits') {
  const runner = Bun.spawn([process.execPath, FIXTURE, how], {
    // The variable is what `bun test --no-orphans` sets: by it the kernel would kill the watch
    // together with the runner.
    env: { ...process.env, TMPDIR: folder.path, BUN_FEATURE_FLAG_NO_ORPHANS: undefined },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let output = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of runner.stdout) output += decoder.decode(chunk, { stream: true })
  })()
  return { runner, reading, output: () => output }
}

/** The three that the program left. */
async function pidsIn(output: () => string): Promise<number[]> {
  const line = await pollUntil(
    'the pids',
    () => /^running (\d+) (\d+) (\d+)$/m.exec(output()) ?? undefined,
    PATIENT,
  )
  return line.slice(1).map(Number)
}

/**
 * Those of them, and of the sessions that they lead, that run. Whoever has ended and was not asked
 * about yet (a zombie) does not.
 */
function running(pids: readonly number[]): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return all.map(Number).filter((pid) => {
    try {
      const [state = '', , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return state !== 'Z' && (pids.includes(pid) || pids.includes(Number(session)))
    } catch {
      return false
    }
  })
}

onLinux('files and processes that are left are named, and gone afterwards', async () => {
  const { runner, reading, output } = start('ends')
  const [child = 0, byEnvironment = 0, byCommand = 0] = await pidsIn(output)
  expect(await runner.exited).toBe(0)
  await reading
  expect(output()).toContain('in the temporary folder: forgotten\n')
  expect(output()).toContain(`still running: ${byEnvironment} sleep 600\n`)
  expect(output()).toContain(`still running: ${byCommand} sh -c : > "$0"; sleep 601; exit`)
  expect(running([child, byEnvironment, byCommand])).toEqual([])
  expect(readdirSync(folder.path)).toEqual([])
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 130],
  ['SIGHUP', 130],
  ['SIGKILL', null],
] as const)
  onLinux(`nothing is left when ${signal} ends the runner`, async () => {
    const { runner, output } = start('waits')
    const pids = await pidsIn(output)
    // The last one's own child is the fourth.
    await pollUntil('all four', () => running(pids).length === 4, PATIENT)
    runner.kill(signal)
    await runner.exited
    expect(runner.signalCode === null ? runner.exitCode : null).toBe(code)
    // A killed process cannot wait for the end of its children.
    if (signal === 'SIGKILL')
      await pollUntil('the end of the run', () => readdirSync(folder.path).length === 0, PATIENT)
    // One that was killed has no command line any more, by which it is found, a moment before it
    // has ended.
    await pollUntil('their end', () => running(pids).length === 0, PATIENT)
    expect(readdirSync(folder.path)).toEqual([])
  })
