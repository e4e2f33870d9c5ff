import { expect, test } from 'bun:test'
import { toCsv } from './csv.ts'

test('cells with commas, quotes or line ends are quoted; null is empty; numbers are plain', () => {
  expect(toCsv([['a,b', 'say "x"', 'two\nlines', null, 1.5, -2]])).toBe(
    '"a,b","say ""x""","two\nlines",,1.5,-2\r\n',
  )
})

test('a name that a spreadsheet would run as a formula becomes text', () => {
  const names = [
    '=HYPERLINK("x")',
    '+1',
    '-1',
    '@sum',
    '\tx',
    '\rx',
    '＝1+1',
    '＋1',
    '－1',
    '＠sum',
  ]
  for (const name of names) {
    const cell = toCsv([[name]]).replace(/^"/, '')
    expect(cell.startsWith("'")).toBe(true)
  }
  expect(toCsv([['openai/gpt-5', 'a=b']])).toBe('openai/gpt-5,a=b\r\n')
})

test('so does a name with the formula after blanks, and one of a command', () => {
  for (const name of [' =1+1', '\n=1', '|cmd', '%x']) expect(toCsv([[name]])).toMatch(/^"'/)
})
