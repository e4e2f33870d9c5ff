/**
 * The program as tests start it: the sources, or the program that `make test` has built, which
 * starts in a third of the time.
 */
import { resolve } from 'node:path'

/** Undefined: nobody has made one. */
export const BUILT_PROGRAM: string | undefined = process.env.GATEHOUSE_TEST_PROGRAM

export const PROGRAM: readonly string[] =
  BUILT_PROGRAM === undefined
    ? [process.execPath, resolve(import.meta.dir, '../../src/main.ts')]
    : [BUILT_PROGRAM]
