import { describe, expect, test } from 'bun:test'
import { SCRATCH_FROM, SocketOutput, scratch } from './socket-output.ts'

const CLOSED = -1

/** Accepts the given numbers of bytes in its first writes, and then everything. */
class ScriptedSocket {
  /** The accepted bytes, a text for each write. */
  readonly writes: string[] = []
  readonly #takes: number[]

  constructor(...takes: number[]) {
    this.#takes = takes
  }

  write(bytes: Uint8Array, from: number, length: number): number {
    const taken = Math.min(this.#takes.shift() ?? length, length)
    const end = from + Math.max(0, taken)
    this.writes.push(Buffer.from(bytes.subarray(from, end)).toString('latin1'))
    return taken
  }
}

/** Fills the memory that the next message reuses. */
function fill(...texts: string[]): number {
  return SCRATCH_FROM + scratch.write(texts.join(''), SCRATCH_FROM, 'latin1')
}

describe('a small message', () => {
  test('leaves in one write', () => {
    const socket = new ScriptedSocket()
    const output = new SocketOutput(socket)
    expect(output.sendScratch(fill('head', 'body'))).toBe(true)
    expect(socket.writes).toEqual(['headbody'])
    expect(output.isWaiting).toBe(false)
  })

  // The head, its body and its end have four bytes each.
  test.each([0, 1, 4, 5, 8, 9, 11])(
    'is whole where the kernel took %d bytes of it, though its place was written over',
    (taken) => {
      const socket = new ScriptedSocket(taken, 0)
      const output = new SocketOutput(socket)
      const body = Buffer.from('body')
      const sent = output.sendScratch(fill('head', 'body', 'tail'), body, SCRATCH_FROM + 4)
      expect(sent).toBe(true)
      expect(output.isWaiting).toBe(true)
      fill('something else')
      expect(output.drain()).toBe(0)
      expect(output.drain()).toBe(12 - taken)
      expect(output.isWaiting).toBe(false)
      expect(socket.writes.join('')).toBe('headbodytail')
    },
  )

  test('is not sent where the socket is closed', () => {
    const output = new SocketOutput(new ScriptedSocket(CLOSED))
    expect(output.sendScratch(fill('head'))).toBe(false)
  })

  test('waits behind one that waits', () => {
    const socket = new ScriptedSocket(2)
    const output = new SocketOutput(socket)
    output.sendScratch(fill('first'))
    expect(output.sendScratch(fill('second'))).toBe(true)
    expect(output.sendOwned(Buffer.from('third'))).toBe(true)
    expect(socket.writes).toEqual(['fi'])
    output.drain()
    expect(socket.writes.join('')).toBe('firstsecondthird')
  })
})

describe('a message in parts', () => {
  const parts = ['head', 'body', 'tail'].map((text) => Buffer.from(text))

  test.each([
    ['takes all of it', [], ['head', 'body', 'tail']],
    ['takes a part of the second write', [4, 1], ['head', 'b', 'ody', 'tail']],
    ['takes nothing of the second write', [4, 0], ['head', '', 'body', 'tail']],
    ['takes parts again and again', [3, 1, 2, 0, 3], ['hea', 'd', 'bo', '', 'dy', 'tail']],
  ])('is sent whole where the kernel %s', (_, takes, writes) => {
    const socket = new ScriptedSocket(...takes)
    const output = new SocketOutput(socket)
    expect(output.sendAll(parts)).toBe(true)
    while (output.isWaiting) output.drain()
    expect(socket.writes).toEqual(writes)
  })

  test('counts as sent where the socket closed after its first part', () => {
    for (const takes of [
      [4, CLOSED],
      [3, CLOSED],
      [4, 4, CLOSED],
    ]) {
      const socket = new ScriptedSocket(...takes)
      const output = new SocketOutput(socket)
      expect(output.sendAll(parts)).toBe(true)
      // Unsent bytes remain, so the connection is not free.
      expect(output.isWaiting).toBe(true)
    }
  })

  test('counts as not sent where the socket is closed before its first part', () => {
    const socket = new ScriptedSocket(CLOSED)
    expect(new SocketOutput(socket).sendAll(parts)).toBe(false)
    expect(socket.writes).toEqual([''])
  })
})

test('a socket that closed is told of where what waited is sent', () => {
  const output = new SocketOutput(new ScriptedSocket(1, 2, CLOSED))
  output.sendOwned(Buffer.from('first'))
  expect(output.drain()).toBe(2)
  expect(output.drain()).toBe(CLOSED)
})

test('nothing waits for a socket that its owner gave up', () => {
  const socket = new ScriptedSocket(1, 0)
  const output = new SocketOutput(socket)
  output.sendOwned(Buffer.from('first'))
  output.close()
  expect(output.isWaiting).toBe(false)
  output.sendOwned(Buffer.from('second'))
  expect(output.isWaiting).toBe(false)
  expect(output.drain()).toBe(0)
})
