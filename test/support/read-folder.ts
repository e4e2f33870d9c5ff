/** What a running gateway has written into its folder. Must not know what is looked for in it. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface WrittenFile {
  readonly path: string
  readonly text: string
}

/**
 * Every file in the folder and below it, byte by byte. A part of the journal that goes into the
 * database meanwhile is left out: the database is read too.
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
