/**
 * Runs a program with a time limit and leaves none of its children behind. Knows nothing of what it
 * runs.
 */

export interface CommandOptions {
  /** For the lines that say that it still runs. */
  readonly name?: string
  readonly timeLimitMs: number
  /** True: what it prints is returned. False: it goes straight to this process's own output. */
  readonly capture: boolean
  readonly environment?: Readonly<Record<string, string>>
  /** It runs there; without it, in this process's own folder. */
  readonly folder?: string
  /** Called as soon as it runs; `pid` leads a process group and a session of its own. */
  readonly onStart?: (pid: number) => void
}

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  readonly timedOut: boolean
  /** Both streams, in no promised order; empty unless captured. */
  readonly output: string
  readonly durationMs: number
}

/** How long a program may take to end after it was asked to, before it is killed. */
const GRACE_MS = 5_000
const STILL_RUNNING_MS = 30_000

const running = new Set<number>()
let isStopped = false

/**
 * Why a command did not come to its end, or was not even started: this process was told to stop.
 */
class Stopped extends Error {}

/**
 * @throws when the program cannot be started, and when this process was told to stop
 * (`runUntilStopped`)
 */
export async function runCommand(
  command: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  if (isStopped) throw new Stopped()
  const startedAt = performance.now()
  // In a process group of its own, so that its children can be ended with it.
  const child = Bun.spawn([...command], {
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
    env: { ...process.env, ...options.environment },
    stdin: 'ignore',
    stdout: options.capture ? 'pipe' : 'inherit',
    stderr: options.capture ? 'pipe' : 'inherit',
    detached: true,
  })
  running.add(child.pid)
  options.onStart?.(child.pid)

  let timedOut = false
  let killTimer: ReturnType<typeof setTimeout> | undefined
  const limitTimer = setTimeout(() => {
    timedOut = true
    signalGroup(child.pid, 'SIGTERM')
    killTimer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS)
  }, options.timeLimitMs)
  const stillRunning = setInterval(() => {
    const named = options.name === undefined ? '' : `${options.name}: `
    console.log(
      `  … ${named}still running after ${Math.round((performance.now() - startedAt) / 1000)} s`,
    )
  }, STILL_RUNNING_MS)

  try {
    const output = Promise.all([readAll(child.stdout), readAll(child.stderr)])
    await child.exited
    // What it left running would hold its pipes open, and the ports it listens on.
    signalGroup(child.pid, 'SIGKILL')
    if (isStopped) throw new Stopped()
    return {
      exitCode: child.signalCode === null ? child.exitCode : null,
      timedOut,
      output: (await output).join(''),
      durationMs: performance.now() - startedAt,
    }
  } finally {
    running.delete(child.pid)
    clearTimeout(limitTimer)
    clearTimeout(killTimer)
    clearInterval(stillRunning)
  }
}

/**
 * Does `work`. Ctrl-C and its like end every running program, and this process (130) as soon as
 * `work` has cleaned up; the second time at once.
 */
export async function runUntilStopped(work: () => Promise<void>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isStopped) process.exit(130)
      isStopped = true
      for (const pid of running) signalGroup(pid, 'SIGKILL')
    })
  }
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
  }
  if (isStopped) process.exit(130)
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group is gone already.
  }
}

async function readAll(stream: ReadableStream<Uint8Array> | undefined): Promise<string> {
  return stream === undefined ? '' : await new Response(stream).text()
}
