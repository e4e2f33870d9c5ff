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
  if (/^SQLITE_(?:CANTOPEN|READONLY|PERM)/.test(code))
    return `The database in the data folder cannot be opened for writing (${error.message}). ${OWNER_CURE}`
  if (code.startsWith('SQLITE_'))
    return (
      `The database in the data folder cannot be used (${error.message}). Restore a backup, or ` +
      'give another folder with GATEHOUSE_DATA_DIR.'
    )
  if (code === 'EACCES' || code === 'EPERM')
    return `The data folder cannot be used (${error.message}). ${OWNER_CURE}`
  if (FOLDER_CODES.has(code))
    return `The data folder cannot be used (${error.message}). Give another with GATEHOUSE_DATA_DIR.`
  return error.message
}

const OWNER_CURE =
  'Does it belong to another user? Run this as that user, or give the folder to this one, as root: ' +
  'chown -R USER FOLDER. GATEHOUSE_DATA_DIR names another folder.'

const FOLDER_CODES: ReadonlySet<string> = new Set(['EEXIST', 'ENOENT', 'ENOTDIR', 'EROFS'])

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
