import { expect, test } from 'bun:test'
import { SignInAttempts } from './sign-in-attempts.ts'

/** @returns how many were let through before the first refusal */
function countUntilRefused(attempt: (index: number) => void, most = 100): number {
  for (let index = 0; index < most; index += 1) {
    try {
      attempt(index)
    } catch (error) {
      expect(error).toMatchObject({ kind: 'rate_limited', headers: { 'retry-after': expect.any(String) } })
      return index
    }
  }
  return most
}

test('one email address has ten tries, from however many places', () => {
  const attempts = new SignInAttempts()
  expect(countUntilRefused((index) => void attempts.begin('a@example.test', `192.0.2.${index}`))).toBe(10)
  expect(countUntilRefused(() => void attempts.begin('b@example.test', '192.0.2.200'))).toBe(10)
})

test('one network address has fifty; those that were right do not count', () => {
  const attempts = new SignInAttempts()
  const right = (index: number) => attempts.begin(`${index}@example.test`, '192.0.2.1').succeed()
  expect(countUntilRefused(right)).toBe(100)
  expect(countUntilRefused((index) => void attempts.begin(`${index}@example.test`, '192.0.2.1'))).toBe(50)
  expect(countUntilRefused(() => attempts.beginSignUp('192.0.2.1'))).toBe(0)
  expect(countUntilRefused(() => attempts.beginSignUp('192.0.2.2'))).toBe(50)
})

test.each([
  ['2001:db8:1:2:', 'a /64'],
  ['2001:db8:1:2::', 'a /64, shortened'],
])('an IPv6 customer is one network: %s', (prefix) => {
  const attempts = new SignInAttempts()
  const spread = (index: number) =>
    attempts.beginSignUp(prefix.endsWith('::') ? `${prefix}${index}` : `${prefix}0:0:0:${index}`)
  expect(countUntilRefused(spread)).toBe(50)
  expect(countUntilRefused(() => attempts.beginSignUp('2001:db8:1:3::1'))).toBe(50)
  expect(countUntilRefused(() => attempts.beginSignUp('::ffff:192.0.2.9'))).toBe(50)
  expect(countUntilRefused(() => attempts.beginSignUp('::ffff:192.0.2.10'))).toBe(50)
})

test('nobody knows where they come from: they are counted together', () => {
  const attempts = new SignInAttempts()
  expect(countUntilRefused((index) => void attempts.begin(`${index}@example.test`, undefined))).toBe(50)
})
