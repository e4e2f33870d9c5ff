/**
 * src/ledger/call-line.generated.ts: a call as the members of its line, and back, and made whole.
 * Straight code: it runs for every call.
 */
import type { CallColumns } from '../../src/core/call-column.ts'
import {
  block,
  generatedHead,
  heldAs,
  isPlain,
  listColumns,
  type NamedColumn,
  PLAIN_TYPES,
  toLiteral,
} from './column-parts.ts'

export const LINE_PATH = 'src/ledger/call-line.generated.ts'
/** The least version that is written. */
const LEAST = 4
/** Of lines with an attempt that says why it failed, whatever else they hold. */
export const FAILED_ATTEMPTS = 10

export function lineCode(columns: CallColumns): string {
  const inLine = listColumns(columns).toSorted((left, right) => left.line - right.line)
  const head = inLine.filter(({ since }) => since === undefined)
  const tail = inLine.filter(({ since }) => since !== undefined)
  return [
    generatedHead('A call as the members of its line in the journal, and back.'),
    "import type { CallRecord } from '../core/call.ts'\n",
    "import type { ErrorKind } from '../core/errors.ts'\n",
    "import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'\n",
    "import { isCount, toTrueUsage } from '../core/usage.ts'\n",
    "import { hasFailedAttempt, isWholeAttempt, isWholeCost, readAttempts, readCost, readUsage, toAttemptsMembers, toCostMembers, toUsageMembers, toWhole, toWholeAttempt } from './line-parts.ts'\n\n",
    '/** The highest that this build reads. */\n',
    `export const LINE_VERSION = ${latest(inLine)}\n\n`,
    '/** How many members a line may have, by version. */\n',
    `const LENGTHS: readonly (readonly number[])[] = ${toLiteral(lengths(head, tail, latest(inLine)))}\n\n`,
    writer(head, tail),
    reader(inLine, tail),
    wholeness(listColumns(columns)),
  ].join('')
}

function latest(columns: readonly NamedColumn[]): number {
  const versions = columns.flatMap((column) => [column.since ?? LEAST, changedIn(column)])
  return Math.max(LEAST, FAILED_ATTEMPTS, ...versions)
}

/** The version that changed the meaning of the column's members. */
function changedIn(column: NamedColumn): number {
  return 'changed' in column ? (column.changed ?? LEAST) : LEAST
}

/**
 * Lines of a version from 5 on end with the column of that version. Lines of a version that changed
 * a meaning, or that hold failed attempts, end like those of any earlier version.
 */
function lengths(
  head: readonly NamedColumn[],
  tail: readonly NamedColumn[],
  last: number,
): number[][] {
  const byVersion: number[][] = Array.from({ length: last + 1 }, () => [])
  byVersion[LEAST]?.push(head.length + 1)
  for (const { since = LEAST, line } of tail) byVersion[since]?.push(line + 1)
  for (const version of new Set(head.map(changedIn)))
    if (version > LEAST) byVersion[version] = byVersion.slice(0, version).flat()
  byVersion[FAILED_ATTEMPTS] = [...new Set(byVersion.slice(0, FAILED_ATTEMPTS).flat())]
  return byVersion
}

function writer(head: readonly NamedColumn[], tail: readonly NamedColumn[]): string {
  const changes = head.filter((column) => changedIn(column) > LEAST)
  const branches = tail.map(({ name, since }, index) => {
    const members = tail.slice(0, index + 1).map((column) => toMember(column, column.name === name))
    const pushed = since === LEAST ? '' : `    ${raised(changes, since)}\n`
    return `if (call.${name} !== undefined) {\n${pushed}    members.push(${members.join(', ')})\n  }`
  })
  return [
    '/** Of a record as `toWholeRecord` makes it; the first member is the version. */\n',
    'export function toLineMembers(call: CallRecord): unknown[] {\n',
    '  const members: unknown[] = [\n',
    block(
      [`${leastVersion(changes)},`, ...head.map((column) => `${toMember(column, false)},`)],
      '    ',
    ),
    '  ]\n',
    branches.length === 0 ? '' : `  ${branches.toReversed().join(' else ')}\n`,
    `  if (hasFailedAttempt(call.attemptDetails)) members[0] = Math.max(Number(members[0]), ${FAILED_ATTEMPTS})\n`,
    '  return members\n}\n\n',
  ].join('')
}

/** @param changes columns whose meaning was changed, of which a line has at most one version */
function leastVersion(changes: readonly NamedColumn[]): string {
  return changes.reduceRight(
    (version, column) => `call.${column.name} === undefined ? ${version} : ${changedIn(column)}`,
    String(LEAST),
  )
}

function raised(changes: readonly NamedColumn[], since = LEAST): string {
  const isHigher = changes.some((column) => changedIn(column) > since)
  return isHigher
    ? `if (${changes.map(({ name }) => `call.${name} === undefined`).join(' && ')}) members[0] = ${since}`
    : `members[0] = ${since}`
}

function toMember(column: NamedColumn, isThere: boolean): string {
  const value = `call.${column.name}`
  if (column.type === 'usage') return `toUsageMembers(${value})`
  if (column.type === 'cost') return `toCostMembers(${value})`
  if (column.type === 'attempts') return `toAttemptsMembers(${value})`
  return column.presence === 'optional' && !isThere ? `${value} ?? null` : value
}

function reader(inLine: readonly NamedColumn[], tail: readonly NamedColumn[]): string {
  const lasts = tail.filter(({ since = LEAST }) => since > LEAST)
  return [
    `/** Of a version from ${LEAST} on. @returns undefined where a member is not what its column holds */\n`,
    'export function readLineMembers(version: number, members: readonly unknown[]): CallRecord | undefined {\n',
    '  if (!LENGTHS[version]?.includes(members.length)) return undefined\n',
    '  // By index: taking an array apart makes iterators, for every call.\n',
    block(inLine.map(readMember)),
    block(inLine.map((column) => `if (${refusal(column)}) return undefined`)),
    block(
      lasts.map(
        ({ name, since }) => `if (version === ${since} && ${name} === null) return undefined`,
      ),
    ),
    '  const record: Writable = {\n',
    block(
      inLine
        .filter(({ presence }) => presence !== 'optional')
        .map((column) =>
          cast(column) === column.name ? `${column.name},` : `${column.name}: ${cast(column)},`,
        ),
      '    ',
    ),
    '  }\n',
    block(
      inLine
        .filter(({ presence }) => presence === 'optional')
        .map((column) => `if (${column.name} !== null) record.${column.name} = ${cast(column)}`),
    ),
    '  return record\n}\n\n',
    'type Writable = { -readonly [Name in keyof CallRecord]: CallRecord[Name] }\n\n',
  ].join('')
}

function readMember({ name, type, line, since }: NamedColumn): string {
  // Lines of before end earlier.
  const member = since === undefined ? `members[${line}]` : `members[${line}] ?? null`
  if (type === 'usage') return `const ${name} = readUsage(${member})`
  if (type === 'cost') return `const ${name} = readCost(${member}, version)`
  if (type === 'attempts') return `const ${name} = readAttempts(${member})`
  return `const ${name} = ${member}`
}

/** When the line is damaged for what stands in this column's place. */
function refusal(column: NamedColumn): string {
  const { name, presence } = column
  if (!isPlain(column)) return `${name} === undefined`
  const notNull = presence === 'always' ? '' : `${name} !== null && `
  if (column.type === 'choice') {
    return notNull + column.values.map((value) => `${name} !== ${toLiteral(value)}`).join(' && ')
  }
  const held = heldAs(column)
  return notNull + (held === 'number' ? `!isCount(${name})` : `typeof ${name} !== '${held}'`)
}

/** An id is a text whose type says whose. */
function cast(column: NamedColumn): string {
  if (!isPlain(column) || column.type === 'choice') return column.name
  const { brand } = PLAIN_TYPES[column.type]
  if (brand === null) return column.name
  return `${column.name} as ${brand}${column.presence === 'nullable' ? ' | null' : ''}`
}

function wholeness(columns: readonly NamedColumn[]): string {
  const counted = columns.filter((column) => !isPlain(column) || heldAs(column) === 'number')
  const optional = counted.filter(({ presence }) => presence === 'optional')
  const [first = 'true', ...others] = counted.map(isWholeTest)
  const names = optional.map(({ name }) => name)
  return [
    '/** Whether every number is one that the columns can hold. */\n',
    'export function isWhole(call: CallRecord): boolean {\n',
    `  return (\n    ${[first, ...others].join(' &&\n    ')}\n  )\n}\n\n`,
    '/** A copy whose numbers are whole. */\n',
    'export function makeWhole(call: CallRecord): CallRecord {\n',
    `  const { ${[...names, '...rest'].join(', ')} } = call\n`,
    '  return {\n    ...rest,\n',
    block(counted.map(madeWhole), '    '),
    '  }\n}\n',
  ].join('')
}

function isWholeTest({ name, type, presence }: NamedColumn): string {
  const value = `call.${name}`
  if (type === 'usage') return `toTrueUsage(${value}) === ${value}`
  if (type === 'cost') return `(${value} === undefined || isWholeCost(${value}))`
  if (type === 'attempts') return `(${value} === undefined || ${value}.every(isWholeAttempt))`
  if (presence === 'always') return `isCount(${value})`
  return `(${value} === ${presence === 'nullable' ? 'null' : 'undefined'} || isCount(${value}))`
}

function madeWhole({ name, type, presence }: NamedColumn): string {
  if (type === 'usage') return `${name}: toTrueUsage(call.${name}),`
  if (type === 'cost')
    return `...(${name} !== undefined && isWholeCost(${name}) ? { ${name} } : {}),`
  if (type === 'attempts')
    return `...(${name} === undefined ? {} : { ${name}: ${name}.map(toWholeAttempt) }),`
  if (presence === 'always') return `${name}: toWhole(call.${name}),`
  if (presence === 'nullable')
    return `${name}: call.${name} === null ? null : toWhole(call.${name}),`
  return `...(${name} === undefined ? {} : { ${name}: toWhole(${name}) }),`
}
