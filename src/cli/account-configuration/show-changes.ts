/**
 * Changes as a person reads them, field by field, and as a program does. Knows no file and no
 * server.
 */
import type { JsonObject } from '../client.ts'
import { printLine, printPainted, toPrintable } from '../output.ts'
import { terminal } from '../terminal.ts'
import type { Change, FieldChange } from './plan-changes.ts'

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const COLOURS = { '+': '\u001b[32m', '-': '\u001b[31m', '~': '\u001b[33m' } as const
const RESET = '\u001b[0m'

export function printChanges(changes: readonly Change[]): void {
  for (const change of changes) {
    const hint = change.action === 'delete' ? ' (only on the server)' : ''
    paint(SIGNS[change.action], '', `${change.kind.label} ${change.name}${hint}`)
    for (const field of change.fields) printField(field)
  }
}

export function toJsonChange({ action, kind, name, fields }: Change): JsonObject {
  return { action, resource: kind.section, name, fields: fields.map(toJsonField) }
}

/** JSON knows no `undefined`: what was not there is null. */
function toJsonField({ field, from, to }: FieldChange): JsonObject {
  return { field, from: from ?? null, to: to ?? null }
}

function printField({ field, from, to }: FieldChange): void {
  if (isText(from) || isText(to)) {
    printTexts(field, linesOf(from), linesOf(to))
    return
  }
  if (from !== undefined) paint('-', INDENT, `${field}: ${JSON.stringify(from)}`)
  if (to !== undefined) paint('+', INDENT, `${field}: ${JSON.stringify(to)}`)
}

const INDENT = '    '

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\n')
}

function linesOf(value: unknown): readonly string[] {
  return value === undefined ? [] : String(value).split('\n')
}

/** Without the lines that both begin and end with. */
function printTexts(field: string, from: readonly string[], to: readonly string[]): void {
  const shorter = Math.min(from.length, to.length)
  let same = 0
  while (same < shorter && from[same] === to[same]) same += 1
  let sameEnd = 0
  while (sameEnd < shorter - same && from.at(-1 - sameEnd) === to.at(-1 - sameEnd)) sameEnd += 1
  printLine(`${INDENT}  ${field}${same === 0 ? '' : ` (from line ${same + 1} on)`}:`)
  for (const line of from.slice(same, from.length - sameEnd)) paint('-', INDENT, `  ${line}`)
  for (const line of to.slice(same, to.length - sameEnd)) paint('+', INDENT, `  ${line}`)
}

function paint(sign: keyof typeof COLOURS, indent: string, text: string): void {
  const line = `${indent}${sign} ${toPrintable(text)}`
  printPainted(terminal().hasColours ? `${COLOURS[sign]}${line}${RESET}` : line)
}
