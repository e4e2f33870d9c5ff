/**
 * Closes a listening socket and leaves the connections that it has accepted alone, which the runtime cannot: its `stop()`
 * also closes every connection that is between two requests, and with it the request that is just arriving on one
 * (docs/decisions/0022). Knows sockets of Linux, and no HTTP.
 */
import { dlopen, ptr } from 'bun:ffi'
import { closeSync, openSync, readdirSync } from 'node:fs'

/** asm-generic/socket.h: x86-64 and arm64 alike. */
const SOL_SOCKET = 1
const SO_ATTACH_FILTER = 26
const SO_ACCEPTCONN = 30

/**
 * A classic BPF program for the packets of a listening socket, which begin with the TCP header: `SYN` (bit 2 of byte 13) is
 * dropped, everything else passes (https://docs.kernel.org/networking/filter.html). Each line: code, jump if true, jump
 * if false, value.
 */
const DROP_NEW_CONNECTIONS = [
  [0x30, 0, 0, 13],
  [0x45, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
] as const

/** Connections whose first packet came before: their request is here after a round trip, and is accepted. */
const UNDERWAY_MS = 100

/**
 * From when this resolves on, new connections are refused at once. A connection that is begun meanwhile is not answered, and
 * refused when its sender tries again, a second later; the kernel would reset it otherwise, perhaps with a request on it.
 * @returns false when this system does not let us: everything is as before
 */
export async function stopAccepting(port: number): Promise<boolean> {
  try {
    const { symbols: libc, close } = openLibrary()
    try {
      const listening = findListening(libc, port)
      if (listening.length === 0) return false
      const filtered = listening.filter((fd) => dropNewConnections(libc, fd))
      if (filtered.length > 0) await Bun.sleep(UNDERWAY_MS)
      return replaceWithNothing(libc, listening)
    } finally {
      close()
    }
  } catch {
    return false
  }
}

function openLibrary() {
  return dlopen('libc.so.6', {
    dup2: { args: ['i32', 'i32'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  })
}

type Libc = ReturnType<typeof openLibrary>['symbols']

/** Of this process; with IPv4 and IPv6 there may be two. */
function findListening(libc: Libc, port: number): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => isListening(libc, fd) && portOf(libc, fd) === port)
}

function isListening(libc: Libc, fd: number): boolean {
  const value = new Int32Array(1)
  const length = new Uint32Array([value.byteLength])
  return (
    libc.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, ptr(value), ptr(length)) === 0 && value[0] === 1
  )
}

function portOf(libc: Libc, fd: number): number | undefined {
  const address = new Uint8Array(128)
  const length = new Uint32Array([address.byteLength])
  if (libc.getsockname(fd, ptr(address), ptr(length)) !== 0) return undefined
  // In both families of addresses it follows the family, in the order of the network.
  return new DataView(address.buffer).getUint16(2)
}

function dropNewConnections(libc: Libc, fd: number): boolean {
  const program = new DataView(new ArrayBuffer(DROP_NEW_CONNECTIONS.length * 8))
  for (const [index, [code, ifTrue, ifFalse, value]] of DROP_NEW_CONNECTIONS.entries()) {
    program.setUint16(index * 8, code, true)
    program.setUint8(index * 8 + 2, ifTrue)
    program.setUint8(index * 8 + 3, ifFalse)
    program.setUint32(index * 8 + 4, value, true)
  }
  const instructions = new Uint8Array(program.buffer)
  const description = new DataView(new ArrayBuffer(16))
  description.setUint16(0, DROP_NEW_CONNECTIONS.length, true)
  description.setBigUint64(8, BigInt(ptr(instructions)), true)
  const given = new Uint8Array(description.buffer)
  return libc.setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, ptr(given), given.byteLength) === 0
}

/** The runtime's handle stays valid for when it closes it; the socket behind it is gone, out of its event loop too. */
function replaceWithNothing(libc: Libc, listening: readonly number[]): boolean {
  const nothing = openSync('/dev/null', 'r')
  try {
    return listening.map((fd) => libc.dup2(nothing, fd)).every((result) => result >= 0)
  } finally {
    closeSync(nothing)
  }
}
