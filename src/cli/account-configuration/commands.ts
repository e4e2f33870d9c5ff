/**
 * Runs `gatehouse config pull`, `diff` and `push`. Loads zod and YAML, so import this file only
 * when such a command runs.
 */
import { createReadStream } from 'node:fs'
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readYaml } from '../../config/yaml-document.ts'
import { RESOURCE_VERBS } from '../../core/resource-table.ts'
import { CliError } from '../cli-error.ts'
import { type Client, type JsonObject, withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { canAsk, confirmDeletion, readBounded, readSecret, readStandardInput } from '../input.ts'
import { printJson, printLine, printNote, printPainted, toPrintable } from '../output.ts'
import { terminal } from '../terminal.ts'
import type { Change, FieldChange } from './change.ts'
import { type ConfigurationFile, readFile, toFault, toFileText } from './configuration-file.ts'
import { type Applied, applyChanges, assertKeyMayPush, planChanges } from './plan-changes.ts'
import { readServer, type ServerState } from './server.ts'

export interface FileFlags {
  readonly file: string
}

export interface PushFlags extends FileFlags {
  readonly prune?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export async function pull(
  context: CliContext,
  { file }: FileFlags,
  isJson: boolean,
): Promise<void> {
  const { entries, notes } = await withClient(context, readServer)
  const text = toFileText(entries)
  for (const note of notes) printNote(note)
  if (file === '-' && isJson) {
    const document = readYaml(text)
    // This program has just written the file, so a fault in the file is a fault of this program.
    if (!('value' in document)) throw toFault(file, document)
    printJson(document.value)
    return
  }
  if (file === '-') {
    // Text in a gate must not control the terminal.
    terminal().output.write(terminal().output.isTerminal ? toPrintable(text) : text)
    return
  }
  await replaceFile(context, file, text)
  const counts = [...entries].map(([kind, list]) => [kind.section, list.length] as const)
  if (isJson) printJson({ file, ...Object.fromEntries(counts) })
  else
    printLine(
      `Wrote ${file}: ${counts.map(([section, count]) => `${section} ${count}`).join(', ')}.`,
    )
}

export async function diff(
  context: CliContext,
  { file }: FileFlags,
  isJson: boolean,
): Promise<void> {
  const wanted = await loadFile(context, file)
  const { changes } = await withClient(context, (client) => plan(client, wanted, printNote))
  if (isJson) printJson({ changes: changes.map(toJsonChange) })
  else if (changes.length === 0) printLine(`The server matches ${wanted.path}.`)
  else printChanges(changes)
  if (changes.length > 0) terminal().exitCode = 1
}

export async function push(context: CliContext, flags: PushFlags, isJson: boolean): Promise<void> {
  const { file, prune = false, dryRun = false, yes = false } = flags
  const wanted = await loadFile(context, file)
  const isWanted = ({ action }: Change) => prune || action !== 'delete'
  const planForKey = async (client: Client, note: (text: string) => void) => {
    const { changes, server } = await plan(client, wanted, note)
    assertKeyMayPush(wanted, server, changes)
    return changes
  }
  const all = await withClient(context, (client) => planForKey(client, printNote))
  const changes = all.filter(isWanted)
  if (changes.length < all.length)
    printNote(
      `${all.length - changes.length} only on the server: deleted with ` +
        '--prune, shown by config diff.',
    )
  if (dryRun || changes.length === 0) {
    announce(changes, { isJson, dryRun })
    return
  }
  if (!isJson) printChanges(changes)
  // Asked before the data folder is opened again, because a person may take their time.
  const credentials = await findCredentials(changes, context.environment)
  await confirmPrune(changes, yes)
  const outcome = await withClient(context, async (client) => {
    const again = (await planForKey(client, () => {})).filter(isWanted)
    if (!isDeepStrictEqual(again.map(toJsonChange), changes.map(toJsonChange)))
      throw new CliError(
        'conflict',
        'The server has changed in the meantime, so nothing was done. Run the command again.',
      )
    return await applyChanges(client, again, credentials)
  })
  for (const note of outcome.notes) printNote(note)
  if (isJson)
    printJson({
      changes: outcome.applied.map(({ change, status }) => ({ ...toJsonChange(change), status })),
    })
  else printLine(summarise(outcome.applied))
  if (outcome.failure !== undefined) throw withPlace(outcome.failure, outcome.applied)
}

async function plan(
  client: Client,
  file: ConfigurationFile,
  note: (text: string) => void,
): Promise<{ readonly changes: readonly Change[]; readonly server: ServerState }> {
  const server = await readServer(client)
  for (const text of server.notes) note(text)
  return { changes: planChanges(file, server), server }
}

function announce(
  changes: readonly Change[],
  { isJson, dryRun }: { isJson: boolean; dryRun: boolean },
): void {
  if (isJson) {
    const status = 'not done'
    printJson({ changes: changes.map((change) => ({ ...toJsonChange(change), status })) })
    return
  }
  if (changes.length === 0) {
    printLine('Nothing to change.')
    return
  }
  printChanges(changes)
  if (!dryRun) return
  const variables = changes.filter(isCredentialNeeded).map(({ name }) => credentialVariableOf(name))
  if (variables.length > 0) printNote(`The credentials will be read from ${variables.join(', ')}.`)
  printLine(`Nothing was changed: this was a dry run.`)
}

/**
 * Stricter than for a single deletion, because a script may delete resources that nobody has
 * listed.
 */
async function confirmPrune(changes: readonly Change[], isAgreed: boolean): Promise<void> {
  const deletions = changes.filter(({ action }) => action === 'delete')
  if (deletions.length === 0 || isAgreed) return
  if (!canAsk())
    throw new CliError(
      'usage',
      `The push would delete ${deletions.length}. Without a terminal, give --yes to confirm.`,
    )
  await confirmDeletion(
    deletions.map(({ kind, name }) => `the ${kind.label} ${name}`).join(', '),
    false,
  )
}

const DONE = { create: 'created', update: 'changed', delete: 'deleted' } as const

function summarise(applied: readonly Applied[]): string {
  const lines = applied
    .filter(({ status }) => status !== 'done')
    .map(
      ({ change: { action, kind, name }, status }) => `${status}: ${action} ${kind.label} ${name}`,
    )
  const done = applied.filter(({ status }) => status === 'done')
  const counts = RESOURCE_VERBS.flatMap((action) => {
    const count = done.filter(({ change }) => change.action === action).length
    return count === 0 ? [] : [`${count} ${DONE[action]}`]
  })
  return [...lines, `Done: ${counts.join(', ') || 'nothing'}.`].join('\n')
}

function withPlace(failure: unknown, applied: readonly Applied[]): unknown {
  const failed = applied.find(({ status }) => status === 'failed')
  if (!(failure instanceof CliError) || failed === undefined) return failure
  const { action, kind, name } = failed.change
  const message = `The push stopped at the ${kind.label} ${name} (${action}): ${failure.message}`
  return new CliError(failure.failure, message, failure.code)
}

async function loadFile({ folder }: CliContext, path: string): Promise<ConfigurationFile> {
  if (path === '-') return readFile('standard input', await readStandardInput())
  try {
    return readFile(path, await readBounded(createReadStream(resolve(folder, path)), path))
  } catch (error) {
    if (error instanceof CliError) throw error
    if ((error as { code?: unknown }).code === 'ENOENT')
      throw new CliError(
        'failed',
        `The file ${path} does not exist. Write it with gatehouse config pull, or name another file with --file.`,
      )
    throw unusable(path, error)
  }
}

/**
 * Replaces the whole file or nothing. Writes to devices and pipes instead: replacing /dev/null as
 * root would leave a file in its place.
 */
async function replaceFile({ folder }: CliContext, path: string, text: string): Promise<void> {
  const place = resolve(folder, path)
  try {
    const found = await stat(place).catch(ifMissing)
    if (found !== undefined && !found.isFile() && !found.isDirectory())
      return await writeFile(place, text)
    const before = await readBounded(createReadStream(place), path).catch(ifMissing)
    if (before !== undefined && before.trim() !== '' && !/^version:/m.test(before)) {
      throw new CliError(
        'conflict',
        `${path} is no configuration file of this kind and was not written ` +
          'over. Give another with --file.',
      )
    }
    const target = before === undefined ? place : await realpath(place)
    const mode = before === undefined ? undefined : (await stat(target)).mode & 0o777
    const draft = `${target}.${process.pid}.new`
    try {
      await writeFile(draft, text, { mode })
      await rename(draft, target)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw unusable(path, error)
  }
}

function ifMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error
}

function unusable(path: string, error: unknown): CliError {
  return new CliError(
    'failed',
    `The file ${path} cannot be used (${String((error as { code?: unknown }).code)}). Give ` +
      'another with --file.',
  )
}

// The credentials of owned models that a push creates come from variables or a prompt, never from
// the file. An empty credential counts as missing.

function isCredentialNeeded({ action, kind }: Change): boolean {
  return action === 'create' && kind.section === 'ownedModels'
}

function credentialVariableOf(slug: string): string {
  return `OWNED_MODEL_${slug.toUpperCase().replaceAll('-', '_')}_CREDENTIAL`
}

/**
 * @returns credentials by slug, without models that need no credential
 * @throws CliError naming every missing variable, when nobody can be asked
 */
async function findCredentials(
  changes: readonly Change[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, string>> {
  const slugs = changes.filter(isCredentialNeeded).map(({ name }) => name)
  const given = (slug: string) => environment[credentialVariableOf(slug)]?.trim()
  const missing = slugs.filter((slug) => given(slug) === undefined)
  if (missing.length > 0 && !canAsk()) {
    const variables = missing.map(credentialVariableOf).join(', ')
    throw new CliError(
      'failed',
      'The credential of a new owned model is missing, so nothing was changed. Set the credential ' +
        `in a variable, empty for a server that takes none: ${variables}.`,
    )
  }
  const credentials = new Map<string, string>()
  for (const slug of slugs) {
    const question = `The credential of the owned model ${slug} (empty: its server takes none)`
    const credential = given(slug) ?? (await readSecret(question))
    if (credential !== '') credentials.set(slug, credential)
  }
  return credentials
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const COLOURS = { '+': '\u001b[32m', '-': '\u001b[31m', '~': '\u001b[33m' } as const
const RESET = '\u001b[0m'

function printChanges(changes: readonly Change[]): void {
  for (const change of changes) {
    const hint = change.action === 'delete' ? ' (only on the server)' : ''
    paint(SIGNS[change.action], '', `${change.kind.label} ${change.name}${hint}`)
    for (const field of change.fields) printField(field)
  }
}

function toJsonChange({ action, kind, name, fields }: Change): JsonObject {
  return { action, resource: kind.section, name, fields: fields.map(toJsonField) }
}

/** JSON has no `undefined`, so a missing value is null. */
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
