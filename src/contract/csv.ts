/**
 * Tables as CSV (RFC 4180), safe to open in a spreadsheet: the export of the log and the files of
 * the dashboard. Knows no column.
 */

export type CsvCell = string | number | boolean | null | undefined

/**
 * Text that spreadsheets take for a formula, some of them in its wide form too, or step over to
 * find one (https://owasp.org/www-community/attacks/CSV_Injection). It gets an apostrophe in front,
 * which they do not show.
 */
const FORMULA = /^[\s]*[=+\-@|%\t\r\n＝＋－＠]/
const NEEDS_QUOTES = /[",\r\n;\t']/

/** @param rows the head first */
export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')
}

function toCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'string') return String(cell)
  const safe = FORMULA.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
