/**
 * Closes a listening socket and leaves the connections that it has accepted alone, which the
 * runtime cannot: its `stop()` also closes every connection that is between two requests, and with
 * it the request that is just arriving on one (docs/decisions/0022). Knows sockets of Linux, and no
 * HTTP.
 */
import { dlopen } from 'bun:ffi'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { waitUntilCalm } from './wait-until-calm.ts'

/** asm-generic/socket.h: x86-64 and arm64 alike. */
const SOL_SOCKET = 1
const SO_ACCEPTCONN = 30
const SO_BINDTOIFINDEX = 62

/** The kernel gives interfaces the lowest free number: this one is never reached. */
const NO_INTERFACE = 0x7fff_ffff

/**
 * netinet/tcp.h. Of a listening socket, `tcpi_unacked` says how many connections wait to be
 * accepted.
 */
const IPPROTO_TCP = 6
const TCP_INFO = 11
const TCP_INFO_BYTES = 104
const UNACKED_OFFSET = 24

/**
 * Connections whose first packet came before: their request arrives within a round trip, and is
 * accepted.
 */
const UNDERWAY_MS = 100
/** A machine that is busy needs longer for it. */
const MOST_UNDERWAY_MS = 2_000

/**
 * New connections are refused from the first moment: the socket is bound to an interface that does
 * not exist, so that no new packet finds it, while handshakes under way belong to it already
 * (docs/decisions/0046). Every user may do this.
 * @returns false when this system does not let us: everything is as before
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

/** It is given arrays and never their addresses, for an address keeps no memory from the collector. */
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
  return libc.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, value, length) === 0 && value[0] === 1
}

function portOf(libc: Libc, fd: number): number | undefined {
  const address = new Uint8Array(128)
  const length = new Uint32Array([address.byteLength])
  if (libc.getsockname(fd, address, length) !== 0) return undefined
  // In both families of addresses it follows the family, in the order of the network.
  return new DataView(address.buffer).getUint16(2)
}

function bindToNoInterface(libc: Libc, fd: number): boolean {
  const index = new Int32Array([NO_INTERFACE])
  return libc.setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, index, index.byteLength) === 0
}

/** A socket that does not say counts as none. */
function waitingToBeAccepted(libc: Libc, fd: number): number {
  const info = new Uint8Array(TCP_INFO_BYTES)
  const length = new Uint32Array([info.byteLength])
  if (libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, length) !== 0) return 0
  return new DataView(info.buffer).getUint32(UNACKED_OFFSET, true)
}

/**
 * The runtime's handle stays valid for when it closes it; the socket behind it is gone, out of its
 * event loop too.
 */
function replaceWithNothing(libc: Libc, listening: readonly number[]): boolean {
  const nothing = openSync('/dev/null', 'r')
  try {
    return listening.map((fd) => libc.dup2(nothing, fd)).every((result) => result >= 0)
  } finally {
    closeSync(nothing)
  }
}
