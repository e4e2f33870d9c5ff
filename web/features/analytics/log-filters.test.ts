import { expect, test } from 'bun:test'
import { toLogFilters } from './choices.ts'

const filters = { key: 'key_1' }

test('a segment of a bar adds its group to the filters of the page', () => {
  const asked = (
    by: 'gate' | 'target' | 'status' | 'credential',
    group: string | null | undefined,
  ) => toLogFilters({ by, show: 'calls', filters }, group)
  expect(asked('gate', 'demo')).toEqual({ key: 'key_1', gate: 'demo' })
  expect(asked('target', 'openai/gpt-5')).toEqual({ key: 'key_1', target: 'openai/gpt-5' })
  expect(asked('status', '5xx')).toEqual({ key: 'key_1', status: '5xx' })
  expect(asked('target', null)).toEqual({ key: 'key_1' })
  expect(asked('gate', undefined)).toEqual({ key: 'key_1' })
})

test('a bar of failed calls leads to failed calls', () => {
  expect(toLogFilters({ by: 'gate', show: 'errors', filters: {} }, 'demo')).toEqual({
    gate: 'demo',
    outcome: 'failed',
  })
})
