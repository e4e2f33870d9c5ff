/**
 * Memory settings must be set before the runtime starts, so `serve` restarts itself once
 * (docs/decisions/0004). Imports nothing, because modules loaded before the restart are loaded
 * again.
 */

const MEMORY_VARIABLES: Readonly<Record<string, string>> = {
  /**
   * Milliseconds for which the allocator keeps freed memory: getting memory from the system again
   * is a sixth of the cost of a 200 KB request.
   */
  MIMALLOC_PURGE_DELAY: '1000',
  /**
   * Minimum milliseconds between the allocator's scans for unused pages: at ten scans a second, a
   * node with ten calls a second spends a third of its time on scans.
   */
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '5000',
  /**
   * Machine memory in MB from which the runtime lets its heap triple between two collections. Set
   * out of reach, so that the heap doubles (docs/decisions/0048).
   */
  BUN_JSC_heapGrowthFunctionThresholdInMB: '1000000',
}

export function isServing(words: readonly string[]): boolean {
  return words.find((word) => !word.startsWith('-')) === 'serve'
}

export function prepareProcess(): void {
  const environment = preparedEnvironment(process.env)
  if (environment === undefined || process.execve === undefined) return
  process.execve(process.execPath, [...ownCommand(), ...process.argv.slice(2)], environment)
}

/**
 * @param given variables that the operator has set are not changed
 * @returns the environment for the restart; undefined when no variable is missing
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

export function ownCommand(): readonly string[] {
  // A standalone executable contains its code and needs no script path.
  const script = Bun.isStandaloneExecutable ? [] : process.argv.slice(1, 2)
  return [process.execPath, ...process.execArgv, ...script]
}
