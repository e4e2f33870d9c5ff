/**
 * Hands the journal of a node that does not run to one that will: files change folders, whole. Must
 * not know who has them locked.
 */
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { listSegments, segmentName } from './segment-file.ts'

/**
 * Moves what waits in one data folder's journal behind what waits in another's. Neither may have a
 * `Journal` open. Killed at any point, each segment is in one of the two. Damaged segments that
 * were set aside stay where they are.
 * @returns how many segments
 * @throws the file system's error; what was moved before stays moved
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
