import { expect, test } from 'bun:test'
import { PORTS } from './ports.ts'

test('no two servers of a measurement listen at one port', () => {
  const all = Object.values(PORTS)
  expect(new Set(all).size).toBe(all.length)
})
