import { expect, test } from 'bun:test'
import { openReasoning, sealReasoning } from './thinking.ts'

const reasoning = { id: 'rs_1', text: 'Sandbox reasoning', isPartial: false }

test('opens with the key it was sealed for, and is the same each time', () => {
  const sealed = sealReasoning(reasoning, 'key')
  expect(openReasoning(sealed, 'key')).toEqual(reasoning)
  expect(sealReasoning(reasoning, 'key')).toBe(sealed)
})

test('refuses another key and any changed character', () => {
  const sealed = sealReasoning(reasoning, 'key')
  expect(openReasoning(sealed, 'other')).toBeNull()
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed[at] === 'A' ? 'B' : 'A'
    expect(openReasoning(sealed.slice(0, at) + changed + sealed.slice(at + 1), 'key')).toBeNull()
  }
  for (const other of ['', '*', `${sealed} `, `${sealed}A`, sealed.slice(0, -1), 'gAAAAABpPDIU']) {
    expect(openReasoning(other, 'key')).toBeNull()
  }
})
