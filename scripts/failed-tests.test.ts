import { expect, test } from 'bun:test'
import { describeFailures } from './failed-tests.ts'

const failures = (count: number, message: string) =>
  Array.from({ length: count }, (_, index) => ({
    part: 'unit',
    name: `a.test.ts: number ${index}`,
    message,
  }))

test('the list is empty when nothing failed', () => {
  expect(describeFailures([])).toEqual([])
})

test('a failed test is named with its part and file, and the start of its message', () => {
  const message = '\u001b[31mexpect(received).toEqual(expected)\u001b[0m\n\n- 1\n+ 2\n'
  expect(
    describeFailures([{ part: 'browser', name: 'test/browser/a.test.ts: group > one', message }]),
  ).toEqual([
    '== failed: 1',
    '  browser: test/browser/a.test.ts: group > one',
    '    expect(received).toEqual(expected)',
    '    - 1',
    '    + 2',
  ])
})

test.each([1, 2, 3, 7, 13, 14, 500])(
  '%i failures take few lines, and the line at the end counts the rest',
  (count) => {
    const lines = describeFailures(
      failures(count, 'first line\nsecond\nthird\nfourth\nfifth\nsixth'),
    )
    expect(lines.length).toBeLessThanOrEqual(14)
    const named = lines.filter((line) => line.includes('a.test.ts')).length
    const rest = Number(/^ {2}and (\d+) more/.exec(lines.at(-1) ?? '')?.[1] ?? 0)
    expect(named + rest).toBe(count)
    expect(lines[0]).toBe(`== failed: ${count}`)
  },
)

test('a long line is cut, so that a screen holds the rest', () => {
  const [, , line = ''] = describeFailures(failures(1, 'x'.repeat(5_000)))
  expect(line).toHaveLength(200)
  expect(line).toEndWith('…')
})
