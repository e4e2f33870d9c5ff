/** Runs a program with a time limit, and leaves no child process behind. */

export interface CommandOptions {
  readonly name?: string
  readonly timeLimitMs: number
  /** Whether to return the output. Otherwise the output goes to this process's own streams. */
  readonly capture: boolean
  readonly environment?: Readonly<Record<string, string>>
  /** The working folder; default: this process's folder. */
  readonly folder?: string
  /** Called after the start; `pid` leads its own process group and session. */
  readonly onStart?: (pid: number) => void
}

export interface CommandResult {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly output: string
  readonly durationMs: number
}

/** How long a program may take to end after a request, before it is killed. */
const GRACE_MS = 5_000
const STILL_RUNNING_MS = 30_000

const running = new Set<number>()
let isStopped = false

/** This process was told to stop, so the command did not end or start. */
class Stopped extends Error {}

/**
 * @throws when the program cannot be started, or when this process was told to stop
 * (`runUntilStopped`)
 */
export async function runCommand(
  command: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  if (isStopped) throw new Stopped()
  const startedAt = performance.now()
  // In its own process group, so that its children can be ended too.
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
    // Ends remaining children, which would keep the pipes and ports open.
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
 * Runs `work`. Ctrl-C and similar signals end every running program, and this process (130) after
 * `work` has cleaned up; a second signal ends this process at once.
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
    // The process group has ended already.
  }
}

async function readAll(stream: ReadableStream<Uint8Array> | undefined): Promise<string> {
  return stream === undefined ? '' : await new Response(stream).text()
}
