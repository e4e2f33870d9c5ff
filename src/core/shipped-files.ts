/**
 * The place of the files that come with the code: beside it, or inside the program that `make
 * binary` makes. Reads none.
 */
import { join } from 'node:path'

const HOUSE = Bun.isStandaloneExecutable ? '/$bunfs/root' : join(import.meta.dir, '../..')

/** @param path from the repository's folder; scripts/build-binary.ts has to know of it */
export function shippedFile(path: string): string {
  return join(HOUSE, path)
}

/** The folder of the checkout's `gatehouse` command. Undefined in the program of `make binary`. */
export const commandFolder = Bun.isStandaloneExecutable ? undefined : join(HOUSE, 'bin')
