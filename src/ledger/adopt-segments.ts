import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { listSegments, segmentName } from './segment-file.ts'

/**
 * Appends the waiting segments of one data folder's journal to another's. Neither folder may have
 * an open `Journal`. A kill leaves each segment in exactly one folder.
 * @returns the number of moved segments
 * @throws the file system's error; segments moved before stay moved
 */
export function adoptSegments(fromDataFolder: string, toDataFolder: string): number {
  const from = listSegments(join(fromDataFolder, 'journal'))
  if (from.length === 0) return 0
  const folder = join(toDataFolder, 'journal')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let sequence = listSegments(folder).at(-1)?.sequence ?? 0
  for (const { segment } of from) {
    sequence += 1
    renameSync(segment.path, join(folder, segmentName(sequence)))
  }
  return from.length
}
