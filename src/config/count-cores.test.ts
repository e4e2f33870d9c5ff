import { expect, test } from 'bun:test'
import { coresOfQuota } from './settings.ts'

test.each([
  ['max 100000\n', Infinity],
  ['max', Infinity],
  ['', Infinity],
  ['200000 100000\n', 2],
  ['50000 100000\n', 0.5],
])('a share of processor time of %j is %p cores', (text, cores) => {
  expect(coresOfQuota(text)).toBe(cores)
})
