import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface RememberedInstallation {
  readonly id: string
  /** The last change that the store has durably reached; the store may be further. */
  readonly change: number
  readonly masterKeyId: string | null
}

const FILE = 'installation.json'

export class InstallationFileError extends Error {
  override readonly name = 'InstallationFileError'
}

export function readInstallationFile(folder: string): RememberedInstallation | undefined {
  const path = join(folder, FILE)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const read = parse(text)
  if (read === undefined)
    throw new InstallationFileError(
      `${path} is damaged, so nothing says which store this data folder belongs to.`,
    )
  return read
}

function parse(text: string): RememberedInstallation | undefined {
  try {
    const { id, change, masterKeyId } = JSON.parse(text) as Record<string, unknown>
    const isKnown = typeof id === 'string' && typeof change === 'number'
    return isKnown
      ? { id, change, masterKeyId: typeof masterKeyId === 'string' ? masterKeyId : null }
      : undefined
  } catch {
    return undefined
  }
}

export function writeInstallationFile(
  folder: string,
  { id, change, masterKeyId }: RememberedInstallation,
): void {
  const path = join(folder, FILE)
  const draft = `${path}.${process.pid}.new`
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    writeSync(descriptor, `${JSON.stringify({ id, change, masterKeyId })}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, path)
}
