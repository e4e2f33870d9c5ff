/**
 * Closes a listening socket without its accepted connections. The runtime's `stop()` also closes
 * every connection between two requests, and loses a request that is just arriving
 * (docs/decisions/0022). Linux only.
 */
import { dlopen } from 'bun:ffi'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { waitUntilCalm } from './wait-until-calm.ts'

/** asm-generic/socket.h, the same on x86-64 and arm64. */
const SOL_SOCKET = 1
const SO_ACCEPTCONN = 30
const SO_BINDTOIFINDEX = 62

/** The kernel assigns the lowest free number, so no interface has this index. */
const NO_INTERFACE = 0x7fff_ffff

/**
 * netinet/tcp.h. For a listening socket, `tcpi_unacked` is the number of connections waiting to be
 * accepted.
 */
const IPPROTO_TCP = 6
const TCP_INFO = 11
const TCP_INFO_BYTES = 104
const UNACKED_OFFSET = 24

/** A connection whose first packet has arrived sends its request within a round trip. */
const UNDERWAY_MS = 100
/** The longest wait, for a busy machine. */
const MOST_UNDERWAY_MS = 2_000

/**
 * Binds the socket to an interface that does not exist: new packets no longer match the socket, and
 * pending handshakes continue (docs/decisions/0046). Needs no privileges.
 * @returns false when the system does not allow this; nothing has changed then
 */
export async function stopAccepting(port: number): Promise<boolean> {
  try {
    const { symbols: libc, close } = openLibrary()
    try {
      const listening = findListening(libc, port)
      if (listening.length === 0) return false
      const unreachable = listening.filter((fd) => bindToNoInterface(libc, fd))
      if (unreachable.length > 0) await waitUntilCalm(UNDERWAY_MS, MOST_UNDERWAY_MS)
      const until = performance.now() + MOST_UNDERWAY_MS
      while (
        unreachable.some((fd) => waitingToBeAccepted(libc, fd) > 0) &&
        performance.now() < until
      )
        await Bun.sleep(1)
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

/**
 * Pass arrays instead of their addresses, because an address does not protect memory from the
 * garbage collector.
 */
type Libc = ReturnType<typeof openLibrary>['symbols']

/** Listening sockets of this process; with IPv4 and IPv6 there may be two. */
function findListening(libc: Libc, port: number): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => isListening(libc, fd) && portOf(libc, fd) === port)
}

function isListening(libc: Libc, fd: number): boolean {
  const value = new Int32Array(1)
  const length = new Uint32Array([value.byteLength])
  return libc.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, value, length) === 0 && value[0] === 1
}

function portOf(libc: Libc, fd: number): number | undefined {
  const address = new Uint8Array(128)
  const length = new Uint32Array([address.byteLength])
  if (libc.getsockname(fd, address, length) !== 0) return undefined
  // In both address families the port follows the family, in network byte order.
  return new DataView(address.buffer).getUint16(2)
}

function bindToNoInterface(libc: Libc, fd: number): boolean {
  const index = new Int32Array([NO_INTERFACE])
  return libc.setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, index, index.byteLength) === 0
}

/** Number of connections that wait to be accepted; 0 if the socket does not report the number. */
function waitingToBeAccepted(libc: Libc, fd: number): number {
  const info = new Uint8Array(TCP_INFO_BYTES)
  const length = new Uint32Array([info.byteLength])
  if (libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, length) !== 0) return 0
  return new DataView(info.buffer).getUint32(UNACKED_OFFSET, true)
}

/**
 * Replaces the socket behind the descriptor, so the runtime can still close the descriptor later.
 * The old socket leaves the event loop too.
 */
function replaceWithNothing(libc: Libc, listening: readonly number[]): boolean {
  const nothing = openSync('/dev/null', 'r')
  try {
    return listening.map((fd) => libc.dup2(nothing, fd)).every((result) => result >= 0)
  } finally {
    closeSync(nothing)
  }
}
