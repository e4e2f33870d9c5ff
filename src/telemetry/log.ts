/**
 * The gateway's own log: one JSON line per event on standard error, without prompts, completions
 * and secrets.
 */
import pino from 'pino'

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface LeveledLog extends Log {
  level: string
}

const MAX_BUFFERED_BYTES = 1024 * 1024

/** @param base added to every line */
export function createLog(level: string, base: object | null = null): LeveledLog {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: MAX_BUFFERED_BYTES })
  // A full disk or a missing reader does not end the process. Waiting lines are written with the
  // first line that succeeds.
  destination.on('error', () => {})
  return pino(
    { level, base: base === null ? null : { ...base }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  )
}

/**
 * Logs an error that a handler threw, without its message: the runtime's messages quote addresses
 * and headers, which may contain a key.
 */
export function logBroken(log: Pick<Log, 'error'>) {
  return (thrown: unknown, requestId: string) => {
    const cause = thrown instanceof Error ? thrown.cause : undefined
    const causes = cause === undefined ? {} : { cause: withoutMessage(cause) }
    const err = { ...withoutMessage(thrown), ...causes }
    log.error({ requestId, err }, 'a request failed inside the gateway')
  }
}

function withoutMessage(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { type: typeof thrown }
  const { name, message, stack } = thrown
  const opening = message === '' ? name : `${name}: ${message}`
  return {
    type: name,
    ...('code' in thrown && typeof thrown.code === 'string' && { code: thrown.code }),
    ...(stack?.startsWith(opening) === true && { stack: stack.slice(opening.length).trim() }),
  }
}
