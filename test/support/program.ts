/**
 * The program as tests start it: the sources, or the one program that `make test` has made of them
 * (scripts/build-image-program.ts), which starts in a third of the time. It must not import
 * anything from src/.
 */
import { resolve } from 'node:path'

/** Undefined: nobody has made one. */
export const BUILT_PROGRAM: string | undefined = process.env.GATEHOUSE_TEST_PROGRAM

/** To be followed by the words of its command line. */
export const PROGRAM: readonly string[] =
  BUILT_PROGRAM === undefined
    ? [process.execPath, resolve(import.meta.dir, '../../src/main.ts')]
    : [BUILT_PROGRAM]
