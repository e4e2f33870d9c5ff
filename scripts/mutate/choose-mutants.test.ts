/** The draw: the same for the same seed, and another file's edit does not change it. */
import { expect, test } from 'bun:test'
import { chooseMutants } from './choose-mutants.ts'
import { findMutants } from './find-mutants.ts'

const source = Array.from({ length: 200 }, (_, index) => `f${index}(a < b)`).join('\n')
const mutants = findMutants('src/x.ts', source)
const draw = { seed: 1, count: 20, isProgram: () => true }

test('the same seed draws the same, another seed others', () => {
  const first = chooseMutants(mutants, draw)
  expect(first).toHaveLength(20)
  expect(chooseMutants(mutants.toReversed(), draw)).toEqual(first)
  expect(chooseMutants(mutants, { ...draw, seed: 2 })).not.toEqual(first)
})

test('lines inserted above a line do not change its lot', () => {
  const moved = findMutants('src/x.ts', `\n\n${source}`)
  const textOf = (list: typeof mutants) => list.map(({ lineText, mutated }) => [lineText, mutated])
  expect(textOf(chooseMutants(moved, draw))).toEqual(textOf(chooseMutants(mutants, draw)))
})

test('a mutant that is not a program is passed over', () => {
  const isProgram = ({ operator }: (typeof mutants)[0]) => operator === 'comparison'
  const chosen = chooseMutants(mutants, { ...draw, isProgram })
  expect(chosen).toHaveLength(20)
  expect(chosen.every(isProgram)).toBe(true)
})

test('the choice is never larger than the list', () => {
  expect(chooseMutants(mutants, { ...draw, count: Number.POSITIVE_INFINITY })).toHaveLength(
    mutants.length,
  )
})
