import { describe, expect, test } from 'bun:test'
import { toVersionTag } from './version-tag.ts'

const gate = { id: 'a', targets: [{ model: 'x/y', weight: 1 }], defaults: { seed: 1, stop: 'x' } }

describe('a version tag', () => {
  test('is 22 characters in quotes, which every header can carry', () => {
    expect(toVersionTag('gate', gate)).toMatch(/^"[\w-]{22}"$/)
  })

  test('does not depend on the order of members, at any depth', () => {
    const turned = {
      defaults: { stop: 'x', seed: 1 },
      targets: [{ weight: 1, model: 'x/y' }],
      id: 'a',
    }
    expect(toVersionTag('gate', turned)).toBe(toVersionTag('gate', gate))
  })

  test('passes over a member without a value, as JSON does', () => {
    expect(toVersionTag('gate', { ...gate, note: undefined })).toBe(toVersionTag('gate', gate))
  })

  test.each([
    ['a member', { ...gate, id: 'b' }],
    ['a member within', { ...gate, defaults: { seed: 2, stop: 'x' } }],
    ['the order of a list', { ...gate, targets: [{ model: 'z/y' }, ...gate.targets] }],
    ['null in place of nothing', { ...gate, note: null }],
  ])('is another with %s', (_, other) => {
    expect(toVersionTag('gate', other)).not.toBe(toVersionTag('gate', gate))
  })

  test('passes over what nobody sets, only of the resource that has it', () => {
    const key = { id: 'key_1', name: 'a', lastUsedAt: null }
    const used = { ...key, lastUsedAt: '2026-01-02T03:04:05.006Z' }
    expect(toVersionTag('key', used)).toBe(toVersionTag('key', key))
    expect(toVersionTag('gate', used)).not.toBe(toVersionTag('gate', key))
  })
})
