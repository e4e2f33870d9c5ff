/**
 * Adds the cure to failures whose own words have none. Knows no command and no class of the house,
 * only error codes.
 */

interface ExplainedError {
  readonly code?: unknown
  readonly syscall?: unknown
  /** By what another port or host is given, where it is not by the options of the command. */
  readonly settings?: { readonly port: string; readonly host: string } | undefined
}

/**
 * The sentence about an error that reached the command line; its own message where that is enough.
 */
export function explainError(error: Error): string {
  const { code, syscall, settings } = error as ExplainedError
  if (syscall === 'listen') return explainListen(code, error, settings)
  if (typeof code !== 'string') return error.message
  if (code === 'SQLITE_FULL')
    return `There is no room on the disk of the data folder (${error.message}). Free some.`
  // Also of a file that cannot grow, as the first that SQLite makes on a full disk.
  if (code.startsWith('SQLITE_IOERR'))
    return (
      `The disk of the data folder fails, or has no room (${error.message}). Free some; should there ` +
      "be enough, see the system's log."
    )
  if (code.startsWith('SQLITE_'))
    return (
      `The database in the data folder cannot be used (${error.message}). Restore a backup, or ` +
      'give another folder with GATEHOUSE_DATA_DIR.'
    )
  if (FOLDER_CODES.has(code))
    return `The data folder cannot be used (${error.message}). Give another with GATEHOUSE_DATA_DIR.`
  return error.message
}

const FOLDER_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EEXIST',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
])

/** The message names host and port. */
function explainListen(
  code: unknown,
  { message }: Error,
  { port, host } = { port: '--port', host: '--host' },
): string {
  if (code === 'EADDRINUSE')
    return `${message}: another process has it. Give another with ${port} (0 takes any free one).`
  if (code === 'EACCES')
    return `${message}: ports below 1024 are for root. Give another with ${port}.`
  return `${message}: the host is not this machine's. Give another with ${host}.`
}
