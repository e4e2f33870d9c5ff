/**
 * The code that follows from the columns of a call, file by file, and what is wrong with a list of
 * them.
 */
import type { CallColumns } from '../../src/core/call-column.ts'
import { BODY_PATH, bodyCode, FIELDS_PATH, fieldCode, KEY_NAME } from './answer-code.ts'
import { listColumns, listPlaces } from './column-parts.ts'
import { FACTS_PATH, factCode } from './fact-code.ts'
import { FAILED_ATTEMPTS, LINE_PATH, lineCode } from './line-code.ts'
import { ROWS_PATH, rowCode } from './row-code.ts'

export interface CallCode {
  readonly faults: readonly string[]
  /** By path. Where there are faults, not worth writing. */
  readonly files: ReadonlyMap<string, string>
}

/** Columns 1 to 17 are in every line that is written; each later one came with a version. */
const IN_EVERY_LINE = 17

export function callCode(columns: CallColumns): CallCode {
  return {
    faults: listFaults(columns),
    files: new Map([
      [LINE_PATH, lineCode(columns)],
      [ROWS_PATH, rowCode(columns)],
      [BODY_PATH, bodyCode(columns)],
      [FIELDS_PATH, fieldCode(columns)],
      [FACTS_PATH, factCode(columns)],
    ]),
  }
}

/** Each column has the next version that changed no meaning. @param changes in their order */
function versionOf(line: number, changes: readonly number[]): number {
  let version = line - IN_EVERY_LINE + 3
  for (const changed of changes) if (changed <= version) version += 1
  return version
}

function listFaults(columns: CallColumns): readonly string[] {
  const list = listColumns(columns)
  const flat = listPlaces(columns)
  const faults = [
    ...placeFaults(
      'line',
      list.map(({ line }) => line),
    ),
    ...placeFaults('csv', [
      KEY_NAME.csv,
      ...flat.flatMap(({ csv }) => (csv === null ? [] : [csv])),
    ]),
  ]
  const names = flat.map(({ column }) => column)
  for (const name of names.filter((each, index) => names.indexOf(each) !== index))
    faults.push(`two have the column ${name}`)
  const changes = [
    FAILED_ATTEMPTS,
    ...list.flatMap((column) => ('changed' in column ? [column.changed ?? 0] : [])),
  ].sort((left, right) => left - right)
  for (const column of list) {
    const { name, line, since, presence } = column
    if (
      column.body === null &&
      ('parts' in column || column.csv !== null || column.fact !== undefined)
    )
      faults.push(`${name}: export and facts are made from the answers, and it is in none`)
    if (line <= IN_EVERY_LINE && since !== undefined)
      faults.push(`${name}: it is in every line, and has no \`since\``)
    if (line <= IN_EVERY_LINE) continue
    const version = versionOf(line, changes)
    if (since !== version)
      faults.push(`${name}: \`since\` must be ${version}, its own version of the line`)
    if (presence !== 'optional')
      faults.push(`${name}: it must be optional, for lines of before do not hold it`)
  }
  return faults
}

function placeFaults(what: string, places: readonly number[]): readonly string[] {
  const sorted = places.toSorted((left, right) => left - right)
  return sorted.every((place, index) => place === index + 1)
    ? []
    : [`the places in \`${what}\` must be 1 to ${places.length}, each once: ${sorted.join(', ')}`]
}
