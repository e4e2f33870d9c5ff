/** Runs a program with a time limit and leaves none of its children behind. Knows nothing of what it runs. */

export interface CommandOptions {
  readonly timeLimitMs: number
  /** True: what it prints is returned. False: it goes straight to this process's own output. */
  readonly capture: boolean
  readonly environment?: Readonly<Record<string, string>>
  /** It runs there; without it, in this process's own folder. */
  readonly folder?: string
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

export async function runCommand(
  command: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
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

  let timedOut = false
  let killTimer: ReturnType<typeof setTimeout> | undefined
  const limitTimer = setTimeout(() => {
    timedOut = true
    signalGroup(child.pid, 'SIGTERM')
    killTimer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS)
  }, options.timeLimitMs)
  const stillRunning = setInterval(() => {
    console.log(`  … still running after ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }, STILL_RUNNING_MS)

  try {
    const output = Promise.all([readAll(child.stdout), readAll(child.stderr)])
    await child.exited
    // What it left running would hold its pipes open, and the ports it listens on.
    signalGroup(child.pid, 'SIGKILL')
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

/** From now on Ctrl-C and its like end every running program, then this process (130). */
export function stopCommandsOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      for (const pid of running) signalGroup(pid, 'SIGKILL')
      process.exit(130)
    })
  }
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
