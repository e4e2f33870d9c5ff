/**
 * Tables as CSV (RFC 4180) that are safe to open in a spreadsheet: the export of the log and the
 * dashboard's files.
 */
import type { UsageSumBody } from './analytics.ts'

export type CsvCell = string | number | boolean | null | undefined

/**
 * Text that spreadsheets interpret as a formula, sometimes also in full-width form or after leading
 * characters (https://owasp.org/www-community/attacks/CSV_Injection). Such text gets a leading
 * apostrophe, which spreadsheets hide.
 */
const FORMULA = /^[\s]*[=+\-@|%\t\r\n＝＋－＠]/
const NEEDS_QUOTES = /[",\r\n;\t']/

export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')
}

function toCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'string') return String(cell)
  const safe = FORMULA.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const COLUMNS: readonly (readonly [heading: string, read: (sum: UsageSumBody) => CsvCell])[] = [
  ['calls', (sum) => sum.calls],
  ['errors', (sum) => sum.errors - sum.refused],
  ['error_rate', toErrorRate],
  ['input_tokens', (sum) => sum.tokens.input],
  ['cached_input_tokens', (sum) => sum.tokens.cachedInput],
  ['output_tokens', (sum) => sum.tokens.output],
  ['reasoning_tokens', (sum) => sum.tokens.reasoning],
  // Decimal, since spreadsheets show 1e-7 as text.
  ['cost_usd', (sum) => toDecimal(sum.cost.usd)],
  ['duration_p50_ms', (sum) => sum.durationMs.p50],
  ['duration_p95_ms', (sum) => sum.durationMs.p95],
  ['duration_p99_ms', (sum) => sum.durationMs.p99],
  ['first_token_p50_ms', (sum) => sum.firstByteMs.p50],
  ['first_token_p95_ms', (sum) => sum.firstByteMs.p95],
  ['cost_estimated_calls', (sum) => sum.cost.estimatedCalls],
  ['cost_unknown_calls', (sum) => sum.cost.unknownCalls],
  ['refused', (sum) => sum.refused],
  ['cancelled', (sum) => sum.cancelled],
  ['unpriced_calls', (sum) => sum.cost.unpricedCalls],
]

export interface CsvGroup {
  /** The kind of group, which heads the columns of names and ids: keys may share a name. */
  readonly by: string
  readonly nameOf: (sum: UsageSumBody) => string
}

/** A line for each step of time, which begins on the day in the first column. */
export function toStepsCsv(sums: readonly UsageSumBody[], step: 'day' | 'month'): string {
  return toCsv([
    [step, ...COLUMNS.map(([heading]) => heading)],
    ...sums.map((sum) => [sum.start.slice(0, 10), ...COLUMNS.map(([, read]) => read(sum))]),
  ])
}

/** @param thenBy the second dimension, if there is one */
export function toUsageCsv(
  sums: readonly UsageSumBody[],
  group: CsvGroup,
  thenBy?: CsvGroup,
): string {
  const groups = [
    { ...group, idOf: (sum: UsageSumBody) => sum.group },
    ...(thenBy === undefined ? [] : [{ ...thenBy, idOf: (sum: UsageSumBody) => sum.thenGroup }]),
  ]
  return toCsv([
    [...groups.flatMap(({ by }) => [by, `${by}_id`]), ...COLUMNS.map(([heading]) => heading)],
    ...sums.map((sum) => [
      ...groups.flatMap(({ nameOf, idOf }) => [nameOf(sum), idOf(sum)]),
      ...COLUMNS.map(([, read]) => read(sum)),
    ]),
  ])
}

function toErrorRate({ calls, errors, refused }: UsageSumBody): number | null {
  const asked = calls - refused
  return asked === 0 ? null : (errors - refused) / asked
}

function toDecimal(usd: number): string {
  const [whole, fraction = ''] = usd.toFixed(9).split('.')
  const digits = fraction.replaceAll('0', ' ').trimEnd().replaceAll(' ', '0')
  return digits === '' ? `${whole}` : `${whole}.${digits}`
}
