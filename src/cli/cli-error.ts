/** A failure that the command line reports in a line, with an exit code for scripts. */
import { explainError } from './explain-error.ts'
import { toJsonText, toPrintable } from './output.ts'
import { terminal } from './terminal.ts'

export const EXIT_CODES = {
  failed: 1,
  usage: 2,
  unauthorized: 3,
  notFound: 4,
  conflict: 5,
  interrupted: 130,
} as const

export type CliFailure = keyof typeof EXIT_CODES

export const EXIT_CODE_HELP = `
Exit codes: 0 done · 1 failed · 2 wrong usage
            3 not authorised · 4 not found
            5 exists already · 130 interrupted`

export class CliError extends Error {
  override readonly name = 'CliError'
  readonly failure: CliFailure
  readonly code: string | undefined

  constructor(failure: CliFailure, message: string, code?: string) {
    super(message)
    this.failure = failure
    this.code = code
  }
}

export function reportError(thrown: unknown, asJson: boolean): number {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const failure: CliFailure = error instanceof CliError ? error.failure : 'failed'
  const code = (error instanceof CliError ? error.code : undefined) ?? failure
  const message = error instanceof CliError ? error.message : explainError(error)
  const text = asJson ? toJsonText({ error: code, message }) : `gatehouse: ${toPrintable(message)}`
  terminal().error.write(`${text}\n`)
  return EXIT_CODES[failure]
}
