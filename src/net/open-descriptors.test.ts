import { expect, test } from 'bun:test'
import { closeSync, openSync } from 'node:fs'
import { testIf } from '../../test/support/skip-unless.ts'
import { areUsedUp, ownDescriptors } from './open-descriptors.ts'

testIf(process.platform === 'linux', 'needs /proc')(
  'a process counts its own file descriptors',
  () => {
    const figures = ownDescriptors()
    const before = figures?.count() ?? 0
    const files = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'))
    // Other code in this process opens and closes files meanwhile.
    expect(figures?.count()).toBeGreaterThan(before + 10)
    for (const file of files) closeSync(file)
    expect(figures?.most).toBeGreaterThan(before + 20)
  },
)

test.each([
  [1_024, true],
  [1_020, true],
  [1_019, false],
  [3, false],
])(
  'of 1,024 file descriptors with %d open, none being left may be why a connection failed: %p',
  (open, expected) => {
    expect(areUsedUp({ most: 1_024, count: () => open })).toBe(expected)
  },
)
