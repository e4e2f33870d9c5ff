/**
 * Prints the failed tests at the end of a run, in few lines, because CI keeps only the end of the
 * output.
 */
import type { Failure } from './test-counts.ts'

export interface FailureOfPart extends Failure {
  readonly part: string
}

/** Few enough to fit on a screen together with the durations and counts below. */
const MAX_LINES = 14
const MAX_LINES_OF_MESSAGE = 5
const MAX_COLUMNS = 200

export function describeFailures(failures: readonly FailureOfPart[]): string[] {
  if (failures.length === 0) return []
  const room = MAX_LINES - 1
  // The last line says how many tests are left out.
  const told = failures.length <= room ? failures : failures.slice(0, room - 1)
  const linesOfMessage = Math.min(MAX_LINES_OF_MESSAGE, Math.floor(room / told.length) - 1)
  const lines = told.flatMap(({ part, name, message }) => [
    cut(`  ${part}: ${name}`),
    ...beginningOf(message, linesOfMessage),
  ])
  const rest = failures.length - told.length
  if (rest > 0) lines.push(`  and ${rest} more, further up`)
  return [`== failed: ${failures.length}`, ...lines]
}

function beginningOf(message: string, lines: number): string[] {
  const said = plain(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return said.slice(0, lines).map((line) => cut(`    ${line}`))
}

function plain(text: string): string {
  return Bun.stripANSI(text).replaceAll('\r', '')
}

function cut(line: string): string {
  const flat = line.replaceAll('\n', ' ')
  return flat.length > MAX_COLUMNS ? `${flat.slice(0, MAX_COLUMNS - 1)}…` : flat
}
