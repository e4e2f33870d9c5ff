/** Locates shipped files beside the code, or inside the program from `make binary`. */
import { join } from 'node:path'

const HOUSE = Bun.isStandaloneExecutable ? '/$bunfs/root' : join(import.meta.dir, '../..')

/** @param path relative to the repository; scripts/build-binary.ts must list it */
export function shippedFile(path: string): string {
  return join(HOUSE, path)
}

/**
 * The folder of the checkout's `gatehouse` command. Undefined in the program from `make binary`.
 */
export const commandFolder = Bun.isStandaloneExecutable ? undefined : join(HOUSE, 'bin')
