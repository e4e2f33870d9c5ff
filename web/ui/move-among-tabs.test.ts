import { expect, test } from 'bun:test'
import { moveAmongTabs } from './move-among-tabs.ts'

test.each([
  ['ArrowRight', 0, 1],
  ['ArrowRight', 2, 0],
  ['ArrowLeft', 1, 0],
  ['ArrowLeft', 0, 2],
  ['Home', 2, 0],
  ['End', 0, 2],
  ['Enter', 1, undefined],
  ['ArrowDown', 1, undefined],
])('%s at the tab %i of three', (key, from, to) => {
  expect(moveAmongTabs(key, { from, count: 3 })).toBe(to)
})
