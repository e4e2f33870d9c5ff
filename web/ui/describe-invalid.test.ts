import { expect, test } from 'bun:test'
import { describeInvalid } from './form.tsx'

const text = { type: 'text', validationMessage: 'as the browser says it', value: '' }

test.each([
  ['a field left empty', { ...text, validity: { valueMissing: true } }, 'This is needed.'],
  [
    'nothing chosen',
    { ...text, type: 'select-one', validity: { valueMissing: true } },
    'Choose one.',
  ],
  [
    'no email address',
    { ...text, type: 'email', validity: { typeMismatch: true } },
    'Write an address such as name@example.com.',
  ],
  [
    'a short password',
    { ...text, value: 'seven 7', minLength: 12, validity: { tooShort: true } },
    'At least 12 characters: 5 more.',
  ],
  [
    'a day too early',
    { ...text, type: 'date', min: '2026-11-22', validity: { rangeUnderflow: true } },
    'Not before 2026-11-22.',
  ],
  [
    'a rule of one’s own',
    { ...text, validity: { patternMismatch: true } },
    'as the browser says it',
  ],
])('%s has the dashboard’s own message', (_, control, message) => {
  expect(describeInvalid(control)).toBe(message)
})
