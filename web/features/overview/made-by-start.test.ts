import { expect, test } from 'bun:test'
import { isMadeByStart } from './first-steps-state.ts'

const at = '2026-11-20T10:00:00.000Z'
const demo = { id: 'demo', targets: [{ model: 'sandbox/echo' }], createdAt: at, updatedAt: at }

test('the demo gate is the start’s until somebody changes it', () => {
  expect(isMadeByStart.gate(demo)).toBe(true)
  expect(isMadeByStart.gate({ ...demo, updatedAt: '2026-11-20T11:00:00.000Z' })).toBe(false)
  expect(isMadeByStart.gate({ ...demo, id: 'support' })).toBe(false)
  expect(isMadeByStart.gate({ ...demo, targets: [{ model: 'acme/large' }] })).toBe(false)
})

test('the first key is the start’s, and a key of a user or of another name is not', () => {
  expect(isMadeByStart.key({ name: 'first key', createdBy: null })).toBe(true)
  expect(isMadeByStart.key({ name: 'first key', createdBy: 'operator' })).toBe(true)
  expect(isMadeByStart.key({ name: 'first key', createdBy: 'usr_1' })).toBe(false)
  expect(isMadeByStart.key({ name: 'production', createdBy: 'operator' })).toBe(false)
})

test('the sandbox and the vendors that it plays are the start’s', () => {
  expect(['sandbox', 'sandbox-chat', 'acme'].map((id) => isMadeByStart.provider({ id }))).toEqual([
    true,
    true,
    false,
  ])
})
