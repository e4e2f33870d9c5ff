import { expect, test } from 'bun:test'
import { ERROR_KINDS } from '../../../src/contract/error-kinds.ts'
import { CANCELLED, ERROR_EXPLANATIONS, explainError } from './explain-error.ts'

test.each([...ERROR_KINDS])('%s says what it means and what to do', (kind) => {
  const { means, cure } = explainError('failed', kind) ?? { means: '', cure: '' }
  for (const sentence of [means, cure]) expect(sentence).toMatch(/^[A-Z].{10,}\.$/)
})

test('no explanation is of a kind that does not exist', () => {
  expect(Object.keys(ERROR_EXPLANATIONS).sort()).toEqual([...ERROR_KINDS].sort())
})

test('callers who left, kinds of newer gateways and successes', () => {
  expect(explainError('cancelled', null)).toBe(CANCELLED)
  expect(explainError('failed', 'heard_of_later')?.means).toBe('The call did not end well.')
  expect(explainError('succeeded', null)).toBeUndefined()
})
