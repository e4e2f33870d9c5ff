import { expect, test } from 'bun:test'
import { describeWeakPassword } from './passwords.ts'

const email = 'jane.doe@example.test'

test.each([
  ['short', 'characters'],
  ['elevenchars', 'characters'],
  ['x'.repeat(129), 'characters'],
  ['ababababababab', 'different characters'],
  ['jane.doe@example.test!', 'email'],
  ['Jane.Doe-2026', 'email'],
  ['123456789012', 'neighbouring'],
  ['abcdefghijkl', 'neighbouring'],
  ['987654321098', 'neighbouring'],
])('%s is refused', (password, why) => {
  expect(describeWeakPassword(password, email)).toContain(why)
})

test.each([
  'correct horse battery',
  'Tr0ub4dor&3-and-more',
  'пароль-из-слов',
  '\u{1F6AA}\u{1F511}\u{1F3E0}\u{1F4A1}\u{1F4DA}\u{1F9ED}',
])('%s is accepted', (password) => {
  expect(describeWeakPassword(password, email)).toBeUndefined()
})
