import type { OnLocalFolder } from './context.ts'
import { terminal } from './terminal.ts'

/** Removes terminal controls, since much of the text comes from a server. */
export function printLine(text: string): void {
  terminal().output.write(`${toPrintable(text)}\n`)
}

export function toUsdCell(usd: number): string {
  return `$${usd.toFixed(9).replace(/0{1,3}$/, '')}`
}

/** Keeps the program's own colours. The caller has passed `text` through `toPrintable`. */
export function printPainted(text: string): void {
  terminal().output.write(`${text}\n`)
}

/** Prints on standard error, so that a pipe gets only the result. */
export function printNote(text: string): void {
  terminal().error.write(`${toPrintable(text)}\n`)
}

/** Explains an empty list: the user may be in another folder than expected. */
export function noteMadeFolder({ madeFolder }: OnLocalFolder): void {
  if (madeFolder === undefined) return
  printNote(
    `The data folder ${madeFolder} was not there: it was made, and is empty. Another one is named ` +
      'by GATEHOUSE_DATA_DIR.',
  )
}

/**
 * Prints the members of a resource below each other, or JSON. Continued lines are indented, so that
 * no line looks like a member.
 */
export function printThing(
  thing: object,
  isJson: boolean,
  fields: readonly (readonly [name: string, value: string])[],
  width = Math.max(...fields.map(([name]) => name.length)) + 2,
): void {
  if (isJson) {
    printJson(thing)
    return
  }
  const indent = `\n${' '.repeat(width)}`
  for (const [name, value] of fields)
    printLine(`${name.padEnd(width)}${value}`.replaceAll('\n', indent))
}

export function printCsv(csv: string): void {
  terminal().output.write(csv.split('\r\n').map(toPrintable).join('\r\n'))
}

export function printJson(value: unknown): void {
  printLine(toJsonText(value, 2))
}

const CONTROLS_IN_JSON = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Escapes all control characters, also those that JSON allows. */
export function toJsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(
    CONTROLS_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const TERMINAL_CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/**
 * Removes characters that move the cursor, change colours, rename the window or reverse a line:
 * names and answers are not trusted.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(TERMINAL_CONTROLS, '')
}

export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>

const GAP = '  '

const LEAST_WIDTH = 8

/**
 * Each column is as wide as its longest cell. The last column is cut at `width`: by default at the
 * terminal's, and never in a pipe or a file.
 */
export function formatTable<Row>(
  columns: Columns<Row>,
  rows: readonly Row[],
  width: number = widthOfLines(),
): string {
  const headings = Object.keys(columns)
  const cells = Object.values(columns)
  const lines = [headings, ...rows.map((row) => cells.map((cell) => toCell(cell(row))))]
  const widths = headings.map((_, index) =>
    Math.max(...lines.map((cells) => Bun.stringWidth(cells[index] ?? ''))),
  )
  const before = widths.slice(0, -1).reduce((sum, columnWidth) => sum + columnWidth + GAP.length, 0)
  const room = width - before
  const lastWidth = room < LEAST_WIDTH ? Number.POSITIVE_INFINITY : room
  return lines
    .map((cells) =>
      cells
        .map((cell, index) =>
          index === cells.length - 1 ? cut(cell, lastWidth) : pad(cell, widths[index] ?? 0),
        )
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

function widthOfLines(): number {
  const { isTerminal, width } = terminal().output
  return isTerminal ? width : Number.POSITIVE_INFINITY
}

function toCell(text: string): string {
  return toPrintable(text.replaceAll(/\s+/g, ' '))
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)))
}

function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (Bun.stringWidth(kept + segment) >= width) break
    kept += segment
  }
  return `${kept}…`
}

/** `2026-11-21 09:30` in the local time zone, or a dash without a time. */
export function formatTime(iso: unknown): string {
  if (typeof iso !== 'string') return '-'
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return '-'
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16).replace('T', ' ')
}
