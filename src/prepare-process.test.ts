/** Which command line is that of a server, whose process is prepared before anything is loaded. */
import { expect, test } from 'bun:test'
import { isServing } from './prepare-process.ts'

test.each([
  [['serve'], true],
  [['--json', 'serve', '--port', '0'], true],
  [['serve', '--help'], true],
  [['help', 'serve'], false],
  [['call', 'serve', 'hello'], false],
  [['--help'], false],
  [[], false],
])('%j: %p', (words, isServer) => {
  expect(isServing(words)).toBe(isServer)
})
