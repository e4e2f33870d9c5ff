interface ExplainedError {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly settings?: { readonly port: string; readonly host: string } | undefined
}

export function explainError(error: Error): string {
  const { code, syscall, settings } = error as ExplainedError
  if (syscall === 'listen') return explainListen(code, error, settings)
  if (typeof code !== 'string') return error.message
  if (code === 'SQLITE_FULL')
    return `The disk of the data folder is full (${error.message}). Free some space.`
  // SQLite reports this also when a file cannot grow, for example its first file on a full disk.
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
    return `The data folder cannot be used (${error.message}). Name another folder with GATEHOUSE_DATA_DIR.`
  return error.message
}

const OWNER_CURE =
  'If the folder belongs to another user, run this command as that user, or give the folder to the present user, as root: ' +
  'chown -R USER FOLDER. GATEHOUSE_DATA_DIR names another folder.'

const FOLDER_CODES: ReadonlySet<string> = new Set(['EEXIST', 'ENOENT', 'ENOTDIR', 'EROFS'])

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
