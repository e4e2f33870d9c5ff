import { expect, test } from 'bun:test'
import { parseFault, parseModel } from './parse-model.ts'

test('a base model has no fault, with or without the prefix', () => {
  for (const asked of ['echo-reasoning', 'sandbox/echo-reasoning', 'sandbox-echo-reasoning']) {
    expect(parseModel(asked)).toEqual({
      name: 'echo-reasoning',
      base: 'echo-reasoning',
      fault: null,
    })
  }
})

test('a fault alone echoes; a base and a fault are joined by a plus', () => {
  expect(parseModel('slow-2000')).toMatchObject({
    base: 'echo',
    fault: { name: 'slow', amount: 2000 },
  })
  expect(parseModel('codestral+slow-stream-5')).toMatchObject({
    base: 'codestral',
    fault: { name: 'slow-stream', amount: 5 },
  })
})

test('any HTTP error status is a fault, with seconds to wait after it', () => {
  expect(parseFault('429-30')).toEqual({ name: 'status', status: 429, amount: 30 })
  expect(parseFault('529')).toEqual({ name: 'status', status: 529, amount: null })
})

test('an unknown model is refused', () => {
  for (const asked of [
    '',
    'gpt-0',
    'echo+',
    '+429',
    'gpt-0+429',
    'echo+none',
    '200',
    '600',
    'slow-',
    'slow-1.5',
    'Echo',
  ]) {
    expect(parseModel(asked)).toBeNull()
  }
})

test("a vendor's model has the limits of the original, also with a fault", () => {
  const limits = { maxOutputTokens: 100_000, efforts: ['low', 'medium', 'high'] }
  const o3 = { name: 'o3', base: 'echo-reasoning', fault: null, limits } as const
  expect(parseModel('o3')).toEqual(o3)
  expect(parseModel('o3+429')).toMatchObject({ base: 'echo-reasoning', limits, fault: {} })
})
