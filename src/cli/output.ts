/** What commands print: tables for people, JSON for programs. Knows no command and no secret. */

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** For what is said beside the result, so that the result alone can be piped. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

export type Row = Readonly<Record<string, string>>

/** Columns as wide as their longest cell, the last one as long as it is. */
export function formatTable(columns: readonly string[], rows: readonly Row[]): string {
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd()
  return [format(columns), ...rows.map((row) => format(columns.map((column) => row[column] ?? '')))].join(
    '\n',
  )
}

/** `2026-11-21 09:30` in the reader's zone; a dash for what has not happened. */
export function formatTime(iso: unknown): string {
  if (typeof iso !== 'string') return '-'
  const time = new Date(iso)
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16).replace('T', ' ')
}
