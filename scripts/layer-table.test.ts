import { expect, test } from 'bun:test'
import { layerTableText, replaceBetweenMarkers } from './layer-table.ts'

test('every folder is a row with the folders that it may import', () => {
  const text = layerTableText(
    { core: { may: [], does: 'a|b' }, wire: { may: ['core'], does: 'formats' } },
    ['main.ts'],
  )
  expect(text).toContain('| `core/` | a\\|b | – |')
  expect(text).toContain('| `wire/` | formats | `core` |')
  expect(text).toContain('| `main.ts` |')
})

test('only text between the markers is replaced, and a second time changes nothing', () => {
  const text = 'a\n<!-- x:start -->\nold\n<!-- x:end -->\nb\n'
  const once = replaceBetweenMarkers(text, 'x', 'new')
  expect(once).toBe('a\n<!-- x:start -->\nnew\n<!-- x:end -->\nb\n')
  expect(replaceBetweenMarkers(once ?? '', 'x', 'new')).toBe(once ?? '')
})

test('a text without both markers is refused', () => {
  expect(replaceBetweenMarkers('<!-- x:end --> <!-- x:start -->', 'x', 'new')).toBeUndefined()
})
