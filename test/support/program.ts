/**
 * The program as tests start it: the sources, or what `make test` has bundled of them (scripts/bundle-program.ts), which starts
 * in two thirds of the time. It must not import anything from src/.
 */
import { resolve } from 'node:path'

/** To be followed by the words of its command line. */
export const PROGRAM: readonly string[] = [
  process.execPath,
  process.env.GATEHOUSE_TEST_PROGRAM ?? resolve(import.meta.dir, '../../src/main.ts'),
]
