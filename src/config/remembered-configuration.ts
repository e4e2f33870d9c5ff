/**
 * Remembers the configuration file that the data folder's server used last, so that a lost file is
 * noticed: without the file every account would have the built-in plans (docs/decisions/0099).
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { SettingsError } from './setting-type.ts'

export interface ConfigurationFile {
  readonly path: string
  readonly digest: string
  readonly isEmpty: boolean
}

interface Found {
  readonly homeFolder: string
  readonly configurationFile: ConfigurationFile | undefined
}

export interface RememberedConfiguration {
  readonly path: string | undefined
  readonly digest: string | undefined
}

const FILE = 'configuration.json'

export function readRemembered(folder: string): RememberedConfiguration | undefined {
  let text: string
  try {
    text = readFileSync(join(folder, FILE), 'utf8')
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      /^(?:ENOENT|ENOTDIR)$/.test(String(error.code))
    )
      return undefined
    throw error
  }
  try {
    const { path, digest } = JSON.parse(text) as Record<string, unknown>
    return { path: textOf(path), digest: textOf(digest) }
  } catch {
    return { path: undefined, digest: undefined }
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/**
 * Records the file in effect, or that the folder has none. Only the holder of the folder's lock may
 * call this.
 */
export function rememberConfiguration({ homeFolder, configurationFile: file }: Found): void {
  const before = readRemembered(homeFolder)
  const path = join(homeFolder, FILE)
  if (!setsSomething(file)) {
    if (before !== undefined) rmSync(path, { force: true })
    return
  }
  if (before?.path === file.path && before.digest === file.digest) return
  const draft = `${path}.${process.pid}.new`
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    writeSync(descriptor, `${JSON.stringify({ path: file.path, digest: file.digest })}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, path)
}

/** @throws SettingsError when the folder's server had a file, and now no file has settings */
export function assertNotLost({ homeFolder, configurationFile: file }: Found): void {
  const remembered = readRemembered(homeFolder)
  if (remembered === undefined || setsSomething(file)) return
  throw new SettingsError(`${describeLoss(remembered.path, file)} ${CONSEQUENCE} ${FORGET}`)
}

/**
 * Checks a file that a running server reloads.
 * @throws SettingsError when the previous file had settings and this file has none
 */
export function assertStillThere(
  before: ConfigurationFile | undefined,
  now: ConfigurationFile | undefined,
): void {
  if (!setsSomething(before) || setsSomething(now)) return
  throw new SettingsError(
    `${describeLoss(before.path, now)} Restore it and send SIGHUP again. If it was removed on ` +
      `purpose, restart once with ${FORGET_OPTION}.`,
  )
}

export function setsSomething(file: ConfigurationFile | undefined): file is ConfigurationFile {
  return file !== undefined && !file.isEmpty
}

export const FORGET_OPTION = '--forget-config'

const CONSEQUENCE = 'Without the file, accounts would lose the limits of their plans.'

const FORGET = `Restore the file. If it was removed on purpose, start once with: gatehouse serve ${FORGET_OPTION}`

function describeLoss(path: string | undefined, found: ConfigurationFile | undefined): string {
  if (found !== undefined && (path === undefined || found.path === path))
    return `The configuration file ${found.path} is empty, and had settings before.`
  const lost =
    path === undefined
      ? 'The configuration file that this server had before is missing.'
      : existsSync(path)
        ? `The configuration file ${path}, which this server had before, still exists, but no setting names it. Set GATEHOUSE_CONFIG=${path}.`
        : `The configuration file ${path}, which this server had before, is missing.`
  return found === undefined ? lost : `${lost} ${found.path} is empty.`
}
