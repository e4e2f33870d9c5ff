import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BodyMemory, LARGE_BODY_BYTES } from './body-memory.ts'

const MB = 1024 * 1024

describe('memory that was given back', () => {
  test('is lent again for a body of about its size', () => {
    const memory = new BodyMemory()
    const first = memory.take(200_000)
    expect(first.byteLength).toBe(200_000)
    memory.release(first)
    const second = memory.take(250_000)
    expect(second.byteLength).toBe(250_000)
    expect(second.buffer).toBe(first.buffer)
    expect(memory.take(200_000).buffer).not.toBe(first.buffer)
  })

  test('is nobody else’s before each of its readers has given it back', () => {
    const memory = new BodyMemory()
    const body = memory.take(MB)
    memory.hold(body.subarray(10, 20))
    memory.release(body)
    expect(memory.take(MB).buffer).not.toBe(body.buffer)
    memory.release(body.subarray(100))
    expect(memory.take(MB).buffer).toBe(body.buffer)
  })

  test('a second time is not lent twice', () => {
    const memory = new BodyMemory()
    const body = memory.take(MB)
    memory.release(body)
    memory.release(body)
    expect(memory.take(MB).buffer).toBe(body.buffer)
    expect(memory.take(MB).buffer).not.toBe(body.buffer)
  })

  test('without having been lent stays where it is', () => {
    const memory = new BodyMemory()
    const small = memory.take(LARGE_BODY_BYTES - 1)
    const huge = memory.take(9 * MB)
    for (const bytes of [small, huge, Buffer.alloc(MB)]) {
      memory.hold(bytes)
      memory.release(bytes)
      memory.release(bytes)
    }
    expect(memory.freeBytes).toBe(0)
  })
})

test('no more lies ready than a bound, whatever was lent', () => {
  const memory = new BodyMemory()
  const lent = Array.from({ length: 20 }, () => memory.take(8 * MB))
  for (const body of lent) memory.release(body)
  expect(memory.freeBytes).toBe(64 * MB)
  expect(lent.filter(({ byteLength }) => byteLength > 0)).toHaveLength(8)
})

test('memory that nobody needed for a while is freed', () => {
  const memory = new BodyMemory()
  const lent = [memory.take(MB), memory.take(MB), memory.take(MB)]
  for (const body of lent) memory.release(body)
  memory.shrink()
  expect(memory.freeBytes).toBe(3 * MB)
  memory.release(memory.take(MB))
  memory.shrink()
  expect(memory.freeBytes).toBe(MB)
  memory.shrink()
  expect(memory.freeBytes).toBe(0)
  expect(lent.map(({ byteLength }) => byteLength)).toEqual([0, 0, 0])
})

test('no two bodies whose readers still read lie in one place', () => {
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('lend', 'lend', 'hold', 'give back', 'shrink'),
      size: fc.constantFrom(LARGE_BODY_BYTES, 100_000, 130_000, MB),
      which: fc.nat(),
    }),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(steps, (all) => {
      const memory = new BodyMemory()
      const readers = new Map<Buffer, number>()
      for (const { what, size, which } of all) {
        if (what === 'lend') {
          const body = memory.take(size)
          for (const other of readers.keys()) expect(other.buffer).not.toBe(body.buffer)
          readers.set(body, 1)
        } else if (what === 'shrink') memory.shrink()
        const body = [...readers.keys()][which % Math.max(1, readers.size)]
        if (body === undefined) continue
        const count = readers.get(body) ?? 0
        if (what === 'hold') {
          memory.hold(body)
          readers.set(body, count + 1)
        } else if (what === 'give back') {
          memory.release(body)
          if (count > 1) readers.set(body, count - 1)
          else readers.delete(body)
        }
      }
    }),
    { numRuns: 300 },
  )
})
