/**
 * Lets the process open as many upstream connections as there are calls (docs/decisions/0004). Imports nothing, so that
 * it can run before anything else is loaded: what was loaded before is loaded again.
 */

/** Bun opens at most this many upstream connections at once, and 256 unless told before it starts. */
const UPSTREAM_CONNECTIONS = '65535'
const CONNECTIONS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/** The runtime reads the limit before any code of ours runs, so the process replaces itself once; it keeps its id. */
export function raiseConnectionLimit(): void {
  if (process.env[CONNECTIONS_VARIABLE] !== undefined || process.execve === undefined) return
  const environment = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...environment,
    [CONNECTIONS_VARIABLE]: UPSTREAM_CONNECTIONS,
  })
}
