/** Runs programs pinned to a core, and reads the kernel's figures of their use. */
import { readFileSync } from 'node:fs'
import { cpuMicrosOf } from './cpu-clock.ts'

/** The machine has two cores: one for the contender, the other for generator and upstream. */
export const CONTENDER_CORE = '0'
export const LOAD_CORE = '1'

export interface PinnedProcess {
  readonly pid: number
  /** Undefined while the process runs; then its exit code, or the signal that ended it. */
  ended(): string | undefined
  /** User and system time so far, including children, in microseconds. */
  cpuMicros(): number
  /** Resident memory, including children, in bytes. */
  residentBytes(): number
  stop(): Promise<void>
}

/**
 * The kernel ends the process even if the bench is killed. Otherwise the process would keep its
 * port.
 */
const ENDS_WITH_BENCH = ['setpriv', '--pdeathsig', 'TERM']

/** @throws Error when the port is already in use, because the other program would be measured */
export function startPinned(
  core: string,
  command: readonly string[],
  options: {
    readonly environment?: Readonly<Record<string, string>>
    readonly folder?: string
    /** The port on which the process will listen. */
    readonly port?: number
  } = {},
): PinnedProcess {
  if (options.port !== undefined) assertFree(options.port)
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([...ENDS_WITH_BENCH, 'taskset', '-c', core, ...command], {
    env: { PATH, HOME, ...options.environment },
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return {
    pid: child.pid,
    ended() {
      if (child.signalCode !== null) return String(child.signalCode)
      return child.exitCode === null ? undefined : `exit code ${child.exitCode}`
    },
    cpuMicros: () => sum(treeOf(child.pid), cpuMicrosOf),
    residentBytes: () => sum(treeOf(child.pid), readResidentBytes),
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await child.exited
      clearTimeout(timer)
    },
  }
}

/**
 * Waits until the address answers.
 * @returns milliseconds from the call to the answer
 * @throws Error when the process has ended, or when nothing answered within `limitMs`
 */
export async function untilAnswers(
  server: Pick<PinnedProcess, 'ended'>,
  url: string,
  { limitMs = 30_000, ...request }: RequestInit & { readonly limitMs?: number } = {},
): Promise<number> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < limitMs) {
    const end = server.ended()
    if (end !== undefined) throw new Error(`The program for ${url} has ended: ${end}`)
    try {
      await (await fetch(url, request)).arrayBuffer()
      return performance.now() - startedAt
    } catch {
      await Bun.sleep(2) // Does not listen yet.
    }
  }
  throw new Error(`nothing answers at ${url}`)
}

function assertFree(port: number): void {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop()
  } catch (cause) {
    throw new Error(`Port ${port} is already in use. Stop the other program first.`, { cause })
  }
}

function treeOf(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim()
  return [
    pid,
    ...(children === '' ? [] : children.split(' ').flatMap((child) => treeOf(Number(child)))),
  ]
}

function readResidentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // The process has ended.
  }
}

function sum(pids: readonly number[], measure: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + measure(pid), 0)
}
