import { expect, test } from 'bun:test'
import { untilItHolds } from './until-it-holds.ts'

test('an assertion that comes true is waited for', async () => {
  let looks = 0
  await untilItHolds(async () => {
    looks += 1
    expect(looks).toBe(3)
  })
  expect(looks).toBe(3)
})

test('one that never holds fails with its own message', async () => {
  const never = untilItHolds(async () => expect('before').toBe('after'), { timeoutMs: 0 })
  expect(never).rejects.toThrow('after')
})
