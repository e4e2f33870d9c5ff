/** Distinguishes operational failures of a database from bugs, by the databases' own codes. */
import { DatabaseUnreachableError } from './database-unreachable-error.ts'
import { StoreFileGoneError } from './store-file-gone-error.ts'

export type StoreFailure = 'away' | 'full' | 'read-only' | 'busy' | 'disk' | 'gone' | 'denied'

/**
 * By the prefix of the code: https://sqlite.org/rescode.html,
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const FAILURES: readonly (readonly [codes: readonly string[], failure: StoreFailure])[] = [
  [['SQLITE_FULL', '53100'], 'full'],
  [['SQLITE_READONLY', '25006'], 'read-only'],
  // Locks, slow statements, and deadlocks.
  [
    ['SQLITE_BUSY', 'SQLITE_LOCKED', '55P03', '57014', '40001', '40P01', '53200', '53300', '53400'],
    'busy',
  ],
  [['SQLITE_IOERR', 'SQLITE_CANTOPEN', '58030', '58P01'], 'disk'],
  [['08', '57P0'], 'away'],
  [['42501'], 'denied'],
]

export function storeFailureOf(thrown: unknown): StoreFailure | undefined {
  for (
    let error = thrown, depth = 0;
    error instanceof Error && depth < 5;
    error = error.cause, depth += 1
  ) {
    if (error instanceof DatabaseUnreachableError) return 'away'
    if (error instanceof StoreFileGoneError) return 'gone'
    const { code } = error as { readonly code?: unknown }
    if (typeof code !== 'string') continue
    // Postgres' codes have five characters; system codes such as `ECONNRESET` have more.
    const found = FAILURES.find(([codes]) => codes.some((known) => code.startsWith(known)))
    if (found !== undefined) return found[1]
  }
  return undefined
}
