/**
 * Memory settings must be set before the runtime starts, so `serve` restarts itself once
 * (docs/decisions/0004). Knows nothing of what is served. Imports nothing, because modules loaded
 * before the restart are loaded again.
 */

const MEMORY_VARIABLES: Readonly<Record<string, string>> = {
  /**
   * How long the allocator keeps freed memory, in milliseconds: getting it from the system again,
   * page by page, is a sixth of the cost of a 200 KB request.
   */
  MIMALLOC_PURGE_DELAY: '1000',
  /**
   * How often the allocator may scan its pages for unused parts, in milliseconds: at ten times a
   * second, a node with ten calls a second spends a third of its time on it.
   */
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '5000',
  /**
   * Machine memory in MB from which the runtime lets its heap triple between two collections. Set
   * out of reach, so that it doubles (docs/decisions/0048).
   */
  BUN_JSC_heapGrowthFunctionThresholdInMB: '1000000',
}

/** True when the command is `serve`; options before a command have no values. */
export function isServing(words: readonly string[]): boolean {
  return words.find((word) => !word.startsWith('-')) === 'serve'
}

/** Restarts the process once under the same id, unless all variables are set already. */
export function prepareProcess(): void {
  const environment = preparedEnvironment(process.env)
  if (environment === undefined || process.execve === undefined) return
  process.execve(process.execPath, [...ownCommand(), ...process.argv.slice(2)], environment)
}

/**
 * @param given variables that the operator has set are not changed
 * @returns the environment for the restart; undefined: nothing is missing
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

/** The command that starts this program, without its arguments. */
export function ownCommand(): readonly string[] {
  // A standalone executable contains its code and needs no script path.
  const script = Bun.isStandaloneExecutable ? [] : process.argv.slice(1, 2)
  return [process.execPath, ...process.execArgv, ...script]
}
