/**
 * Memory that is lent: always as much as was asked for, the same again and again, and no more kept
 * than the limit.
 */
import { ptr } from 'bun:ffi'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ScratchBuffer } from './json-splice.ts'

const KIB = 1024
const MIB = 1024 * KIB

test('a buffer has the requested length, whatever was lent before', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200 * KIB), { minLength: 1, maxLength: 6 }), (lengths) => {
      const scratch = new ScratchBuffer()
      for (const length of lengths) expect(scratch.take(length).length).toBe(length)
    }),
    { numRuns: 30 },
  )
})

test('the same memory is lent again, for any size up to the largest that is kept', () => {
  const scratch = new ScratchBuffer()
  const small = scratch.take(1)
  expect(scratch.take(64 * KIB).buffer).toBe(small.buffer)
  expect(scratch.take(64 * KIB + 1).buffer).not.toBe(small.buffer)
  const largest = scratch.take(4 * MIB)
  expect(scratch.take(4 * MIB).buffer).toBe(largest.buffer)
  expect(scratch.take(1).buffer).toBe(largest.buffer)
  expect(largest.buffer.byteLength).toBe(4 * MIB)
})

test('a use beyond the limit gets separate memory, which is not kept', () => {
  const scratch = new ScratchBuffer()
  const kept = scratch.take(1)
  const large = scratch.take(4 * MIB + 1)
  expect(large.length).toBe(4 * MIB + 1)
  expect(scratch.take(4 * MIB + 1).buffer).not.toBe(large.buffer)
  expect(scratch.take(1).buffer).toBe(kept.buffer)
})

test('memory that grows bit by bit is rarely allocated anew, and never beyond the limit', () => {
  const scratch = new ScratchBuffer()
  const buffers = new Set<ArrayBufferLike>()
  for (let length = 0; length <= 4 * MIB; length += 16 * KIB)
    buffers.add(scratch.take(length).buffer)
  // From 64 KiB on, doubled six times; and the one of nothing at all.
  expect(buffers.size).toBeLessThanOrEqual(8)
  expect(Math.max(...Array.from(buffers, (buffer) => buffer.byteLength))).toBe(4 * MIB)
})

test.each([
  ['kept memory', 300 * KIB],
  ['separate memory', 5 * MIB],
])(
  'large memory begins away from the start of a page, unlike the sources that are copied into it: %s',
  (_name, length) => {
    const intoPage = ptr(new ScratchBuffer().take(length)) % 4096
    expect(intoPage).toBeGreaterThan(512)
    expect(intoPage).toBeLessThan(4096 - 512)
  },
)
