import { expect, test } from 'bun:test'
import { readToken } from './read-token.ts'

const HEX = '0123456789abcdef'.repeat(4)

test('tokens and keys are accepted, with blanks around them', () => {
  expect(readToken(` at-svc-${HEX}\n`)).toEqual({
    token: `at-svc-${HEX}`,
    problem: undefined,
    isKey: false,
  })
  expect(readToken(`sk-svc-${HEX}`)).toMatchObject({ token: `sk-svc-${HEX}`, isKey: true })
  expect(readToken('legacy_abc-12345')).toMatchObject({ isKey: true })
  expect(readToken('  ')).toEqual({ token: undefined, problem: undefined, isKey: false })
})

test.each(['at-svc-1234', `at-svc-${HEX.toUpperCase()}`, `at-svc-${HEX};ls`, 'legacy_abc$(ls)'])(
  'other text never gets into a line: %p',
  (typed) => {
    expect(readToken(typed)).toEqual({
      token: undefined,
      problem: 'A token is at-svc- and 64 hexadecimal characters.',
      isKey: false,
    })
  },
)
