/** Reads everything that a running gateway has written into its folder. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface WrittenFile {
  readonly path: string
  readonly text: string
}

/**
 * Every file below the folder. A segment that is shipped meanwhile is left out, because the
 * database is read too.
 */
export function readFolder(folder: string): readonly WrittenFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    readFile(join(folder, name)),
  )
}

function readFile(path: string): readonly WrittenFile[] {
  try {
    return statSync(path).isFile() ? [{ path, text: readFileSync(path).toString('latin1') }] : []
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return []
    throw error
  }
}
