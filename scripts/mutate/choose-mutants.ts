/**
 * Which mutants are tried: a draw that comes out the same for the same seed. Knows nothing of
 * tests.
 */
import { createHash } from 'node:crypto'
import type { Mutant } from './find-mutants.ts'

export interface Draw {
  readonly seed: number
  readonly count: number
  /** False: it is left out. Asked for those alone that are drawn. */
  readonly isProgram: (mutant: Mutant) => boolean
}

/**
 * Each mutant draws its own lot, from what it is and not from where it stands: an edit to one file
 * hardly changes the choice in all others.
 */
export function chooseMutants(
  mutants: readonly Mutant[],
  { seed, count, isProgram }: Draw,
): Mutant[] {
  const seen = new Map<string, number>()
  const drawn = mutants.map((mutant) => {
    const name = [
      mutant.path,
      mutant.lineText,
      mutant.operator,
      mutant.original,
      mutant.mutated,
    ].join('\n')
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return { mutant, lot: createHash('sha256').update(`${seed}\n${before}\n${name}`).digest('hex') }
  })
  drawn.sort((left, right) => (left.lot < right.lot ? -1 : 1))
  const chosen: Mutant[] = []
  for (const { mutant } of drawn) {
    if (chosen.length >= count) break
    if (isProgram(mutant)) chosen.push(mutant)
  }
  return chosen
}
