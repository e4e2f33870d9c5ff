/**
 * How much memory is taken and how long it is kept has to be said before the runtime starts, so
 * `serve` starts it a second time (docs/decisions/0004). Knows nothing of what is served, and
 * imports nothing, because what was loaded before is loaded again.
 */

const MEMORY_VARIABLES: Readonly<Record<string, string>> = {
  /**
   * How long the allocator keeps memory that was given back, in milliseconds: getting it anew from
   * the system, page by page, is a sixth of the cost of a 200 KB request.
   */
  MIMALLOC_PURGE_DELAY: '1000',
  /**
   * How often the allocator may look through all its pages for unused parts to give back, in
   * milliseconds: at ten times a second, a node with ten calls a second spends a third of its time
   * on that.
   */
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '5000',
  /**
   * From so much memory of the machine on, in MB, the runtime lets its heap treble between two
   * collections; here that is never, so it doubles (docs/decisions/0048).
   */
  BUN_JSC_heapGrowthFunctionThresholdInMB: '1000000',
}

/** True where the command is `serve`: options that may stand before a command have no values. */
export function isServing(words: readonly string[]): boolean {
  return words.find((word) => !word.startsWith('-')) === 'serve'
}

/** Replaces the process once, with its id kept, unless all of it is said already. */
export function prepareProcess(): void {
  const environment = preparedEnvironment(process.env)
  if (environment === undefined || process.execve === undefined) return
  process.execve(process.execPath, [...ownCommand(), ...process.argv.slice(2)], environment)
}

/**
 * @param given in which what the operator has said stays as it is
 * @returns what the runtime is started with; undefined: nothing is missing, it can stay as it was
 * started
 */
export function preparedEnvironment(
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> | undefined {
  if (Object.keys(MEMORY_VARIABLES).every((name) => given[name] !== undefined)) return undefined
  const said = Object.entries(given).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return { ...MEMORY_VARIABLES, ...Object.fromEntries(said) }
}

/** How this very program is called, without its arguments. */
export function ownCommand(): readonly string[] {
  // A program of its own has its code inside and is not told again where it lies.
  const script = Bun.isStandaloneExecutable ? [] : process.argv.slice(1, 2)
  return [process.execPath, ...process.execArgv, ...script]
}
