/**
 * The database refused or broke the connection. The message contains no password; `code` is the
 * system's or Postgres' own.
 */
export class DatabaseUnreachableError extends Error {
  override readonly name = 'DatabaseUnreachableError'
  readonly code: string

  constructor(where: string, cause: unknown) {
    const code = codeOf(cause)
    super(
      `The Postgres database at ${where} cannot be used: ` +
        `${explain(code, cause)}. Check DATABASE_URL.`,
      {
        cause,
      },
    )
    this.code = code
  }
}

function codeOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return 'unknown'
  if ('code' in cause && typeof cause.code === 'string') return cause.code
  if (cause instanceof AggregateError && cause.errors.length > 0) return codeOf(cause.errors[0])
  return cause instanceof Error && /timeout/i.test(cause.message) ? 'ETIMEDOUT' : 'unknown'
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host is not known for now',
  ETIMEDOUT: 'no connection was made in time',
  '28P01': 'it refuses the user or the password',
  '28000': 'it lets this user not in from here',
  '3D000': 'there is no such database',
  '53300': 'it has too many connections',
  '57P03': 'it is starting or ending',
}

function explain(code: string, cause: unknown): string {
  const explanation = EXPLANATIONS[code]
  if (explanation !== undefined) return `${explanation} (${code})`
  const message = cause instanceof Error ? cause.message : String(cause)
  return code === 'unknown' ? message : `${message} (${code})`
}
