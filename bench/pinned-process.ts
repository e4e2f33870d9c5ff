/**
 * Programs on a core of their own, and what the kernel says they used. Knows nothing of what they
 * do.
 */
import { readFileSync } from 'node:fs'
import { cpuMicrosOf } from './cpu-clock.ts'

/** The contender has one core, generator and upstream share the other: the machine has two. */
export const CONTENDER_CORE = '0'
export const LOAD_CORE = '1'

export interface PinnedProcess {
  readonly pid: number
  /** Undefined while it runs; then its exit code or the signal that ended it. */
  ended(): string | undefined
  /** User and system time of it and its children so far, in microseconds. */
  cpuMicros(): number
  /** Resident memory with its children, in bytes. */
  residentBytes(): number
  stop(): Promise<void>
}

/** By the kernel, also where the bench is killed: what it leaves behind would hold its port. */
const ENDS_WITH_BENCH = ['setpriv', '--pdeathsig', 'TERM']

/** @throws Error where something listens at its port already, which would be measured in its place */
export function startPinned(
  core: string,
  command: readonly string[],
  options: {
    readonly environment?: Readonly<Record<string, string>>
    readonly folder?: string
    /** Where it will listen. */
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
 * Waits until the address answers at all.
 * @returns milliseconds from the call to the answer
 * @throws as soon as the process that should answer has ended, or when nothing answered for
 * `limitMs`
 */
export async function untilAnswers(
  server: Pick<PinnedProcess, 'ended'>,
  url: string,
  { limitMs = 30_000, ...request }: RequestInit & { readonly limitMs?: number } = {},
): Promise<number> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < limitMs) {
    const end = server.ended()
    if (end !== undefined) throw new Error(`what should answer at ${url} has ended: ${end}`)
    try {
      await (await fetch(url, request)).arrayBuffer()
      return performance.now() - startedAt
    } catch {
      await Bun.sleep(2) // Not listening yet.
    }
  }
  throw new Error(`nothing answers at ${url}`)
}

function assertFree(port: number): void {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop()
  } catch (cause) {
    throw new Error(`Something listens at port ${port} already: end it first.`, { cause })
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
