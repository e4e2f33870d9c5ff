import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** @param index from 0; an unused index may still have a folder with a journal */
export function workerFolder(dataFolder: string, index: number): string {
  return join(dataFolder, 'workers', String(index))
}

export function listWorkerFolders(dataFolder: string): readonly number[] {
  return namesIn(join(dataFolder, 'workers'))
    .filter((name) => /^(?:0|[1-9]\d{0,8})$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
