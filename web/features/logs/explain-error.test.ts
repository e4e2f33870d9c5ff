import { expect, test } from 'bun:test'
import { ERROR_KINDS } from '../../../src/contract/error-table.ts'
import { CANCELLED, ERROR_EXPLANATIONS, explainError } from './explain-error.ts'

test.each([...ERROR_KINDS])('%s has a meaning and a remedy', (kind) => {
  const { means, cure } = explainError('failed', kind) ?? { means: '', cure: '' }
  for (const sentence of [means, cure]) expect(sentence).toMatch(/^[A-Z].{10,}\.$/)
})

test('no explanation is of an unknown kind', () => {
  expect(Object.keys(ERROR_EXPLANATIONS).sort()).toEqual([...ERROR_KINDS].sort())
})

test('cancelled calls and newer kinds have general explanations, and successes have none', () => {
  expect(explainError('cancelled', null)).toBe(CANCELLED)
  expect(explainError('failed', 'heard_of_later')?.means).toBe('The call failed.')
  expect(explainError('succeeded', null)).toBeUndefined()
})
