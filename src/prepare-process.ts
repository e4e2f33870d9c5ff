/**
 * How long memory is kept has to be said before the runtime starts, so `serve` starts it a second
 * time (docs/decisions/0004). Knows nothing of what is served, and imports nothing, because what was
 * loaded before is loaded again.
 */

/**
 * How long the allocator keeps memory that was given back, in milliseconds: getting it anew from the
 * system, page by page, is a sixth of the cost of a 200 KB request.
 */
const MEMORY_KEPT_MS = '1000'
const MEMORY_VARIABLE = 'MIMALLOC_PURGE_DELAY'

/** Whether the command is `serve`: options that may stand before a command have no values. */
export function isServing(words: readonly string[]): boolean {
  return words.find((word) => !word.startsWith('-')) === 'serve'
}

/** Replaces the process once, with its id kept, unless the operator has said the same. */
export function prepareProcess(): void {
  if (process.env[MEMORY_VARIABLE] !== undefined || process.execve === undefined) return
  const environment = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  process.execve(process.execPath, [...ownCommand(), ...process.argv.slice(2)], {
    ...environment,
    [MEMORY_VARIABLE]: MEMORY_KEPT_MS,
  })
}

/** How this very program is called, without its arguments. */
export function ownCommand(): readonly string[] {
  // A program of its own has its code inside and is not told again where it lies.
  const script = Bun.isStandaloneExecutable ? [] : process.argv.slice(1, 2)
  return [process.execPath, ...process.execArgv, ...script]
}
