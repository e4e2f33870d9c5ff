import { type Command, InvalidArgumentError } from 'commander'
import { SETTINGS } from '../config/setting-table.ts'
import type { Listing } from './client.ts'
import { type Columns, formatTable, printJson, printLine, printNote } from './output.ts'

export interface CallerFlags {
  readonly user?: string
  readonly session?: string
  readonly agent?: string
  readonly tag?: string
}

export function withCallerOptions(command: Command): Command {
  return command
    .option('--user <who>', "calls of this user only: a member's id, name or e-mail, or end:NAME")
    .option(
      '--session <id>',
      'calls of this session only, by the id that the client sent or its hash',
    )
    .option('--agent <name>', 'calls of this subagent only, by name (with --session) or hash')
    .option('--tag <tag>', 'calls with this tag only, such as repo:gatehouse')
}

export function pickCallers({ user, session, agent, tag }: CallerFlags): CallerFlags {
  return {
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(tag !== undefined && { tag }),
  }
}

export function asJson(command: Command): boolean {
  return command.optsWithGlobals().json === true
}

export function example(...lines: readonly string[]): string {
  return `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}

export function parseLimit(text: string): number {
  return parseWhole(text, { min: 1, max: 100_000 })
}

/** @throws InvalidArgumentError, which commander reports with the option's name */
export function parsePort(text: string): number {
  return parseWhole(text, SETTINGS.GATEHOUSE_PORT.type)
}

/**
 * @returns `auto`, or the whole number as given
 * @throws InvalidArgumentError
 */
export function parseWorkers(text: string): string {
  return text === 'auto' ? text : String(parseWhole(text, SETTINGS.GATEHOUSE_WORKERS.type))
}

/** @throws InvalidArgumentError, which commander reports with the option's name */
export function parseWhole(
  text: string,
  range: { readonly min: number; readonly max: number },
): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < range.min || value > range.max) {
    throw new InvalidArgumentError(
      `The value must be a whole number from ${range.min} to ${range.max}.`,
    )
  }
  return value
}

/** @throws InvalidArgumentError, which commander reports with the option's name */
export function parseDecimal(
  text: string,
  range: { readonly min: number; readonly max: number },
): number {
  const value = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || value < range.min || value > range.max) {
    throw new InvalidArgumentError(`The value must be a number from ${range.min} to ${range.max}.`)
  }
  return value
}

export function isEmptyChange(body: object): boolean {
  return Object.values(body).every((value) => value === undefined)
}

export function printListing<Listed>(
  listing: Listing<Listed>,
  command: Command,
  columns: Columns<Listed>,
): void {
  if (asJson(command)) printJson(listing.rows)
  else printLine(formatTable(columns, listing.rows))
  if (!listing.hasMore) return
  const { length } = listing.rows
  printNote(
    `${length === 1 ? 'The list shows the first row' : `The list shows the first ${length} rows`}; see more with --limit.`,
  )
}
