/**
 * What the operating system has to be told before the server is loaded: how many connections upstream, how its
 * threads share a core, how long memory is kept (docs/decisions/0004 and 0006). Knows nothing of what is served, and imports next to nothing,
 * because what was loaded before is loaded again.
 */
import { dlopen, ptr } from 'bun:ffi'

/** Bun opens at most this many upstream connections at once, and 256 unless told before it starts. */
const UPSTREAM_CONNECTIONS = '65535'
const CONNECTIONS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * How long the allocator keeps memory that was given back, in milliseconds: getting it anew from the system, page by page,
 * was an eighth of the cost of a 200 KB request.
 */
const MEMORY_KEPT_MS = '1000'

/** `SCHED_BATCH` of sched(7). */
const BATCH_POLICY = 3

/** Whether the command is `serve`: options that may stand before a command have no values. */
export function isServing(words: readonly string[]): boolean {
  return words.find((word) => !word.startsWith('-')) === 'serve'
}

/** Replaces the process once, with its id kept. */
export function prepareProcess(): void {
  if (process.env.GATEHOUSE_SCHEDULING !== 'normal' && process.platform === 'linux') scheduleAsBatch()
  if (process.env[CONNECTIONS_VARIABLE] !== undefined || process.execve === undefined) return
  const environment = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  process.execve(process.execPath, [...ownCommand(), ...process.argv.slice(2)], {
    MIMALLOC_PURGE_DELAY: MEMORY_KEPT_MS,
    ...environment,
    [CONNECTIONS_VARIABLE]: UPSTREAM_CONNECTIONS,
  })
}

/** How this very program is called, without its arguments. */
export function ownCommand(): readonly string[] {
  // A program of its own has its code inside and is not told again where it lies.
  const script = Bun.isStandaloneExecutable ? [] : process.argv.slice(1, 2)
  return [process.execPath, ...process.execArgv, ...script]
}

/**
 * The thread that serves and the one that talks to upstreams wake each other for every call. With the usual policy each
 * waking interrupts the other, three switches a call; as batch work they take turns. The policy outlives `execve` and is
 * passed on to every thread. A system that refuses it is none the worse.
 */
function scheduleAsBatch(): void {
  try {
    const library = dlopen('libc.so.6', {
      sched_setscheduler: { args: ['i32', 'i32', 'ptr'], returns: 'i32' },
    })
    const priority = new Int32Array([0])
    library.symbols.sched_setscheduler(0, BATCH_POLICY, ptr(priority))
    library.close()
  } catch {
    // No such library (musl, for one): the usual policy stays.
  }
}
