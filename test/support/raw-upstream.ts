/**
 * A provider over plain TCP: keeps the exact bytes that it receives and answers with exact bytes.
 * Uses no HTTP library, which would tidy both.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { parseHeaders, readBody } from './http-bytes.ts'
import { pollUntil } from './poll-until.ts'

export interface CapturedRequest {
  readonly method: string
  readonly path: string
  readonly head: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly text: string
}

export interface Exchange {
  readonly request: CapturedRequest
  /** Resolves when the bytes have left for the kernel or the peer is gone. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Resolves when the gateway has read everything from its socket, as far as Linux can tell. */
  whenRead(): Promise<void>
  end(): void
  reset(): void
  readonly closed: boolean
  /** The time (milliseconds since the Unix epoch) at which the gateway closed the connection. */
  readonly whenClosed: Promise<number>
  acceptedBytes(): number
}

export type Script = (exchange: Exchange) => void | Promise<void>

export interface RawUpstream {
  readonly url: string
  readonly requests: CapturedRequest[]
  last(): CapturedRequest
  answer(script: Script): void
  answerOnce(script: Script): void
  reset(): void
  openConnections(): number
  stop(): Promise<void>
}

export async function startRawUpstream(): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  const requests: CapturedRequest[] = []
  const once: Script[] = []
  let standing: Script = (exchange) => exchange.reset()

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    let pending: Buffer = Buffer.alloc(0)
    let busy = false
    const closed = Promise.withResolvers<number>()
    let isClosed = false
    const markClosed = (): void => {
      isClosed = true
      closed.resolve(Date.now())
    }
    socket.on('close', () => {
      sockets.delete(socket)
      markClosed()
    })
    socket.on('end', markClosed)
    socket.on('error', markClosed)

    const serveNext = async (): Promise<void> => {
      if (busy) return
      const parsed = parseRequest(pending)
      if (parsed === undefined) return
      busy = true
      pending = pending.subarray(parsed.length)
      requests.push(parsed.request)
      const script = once.shift() ?? standing
      await script({
        request: parsed.request,
        write: (bytes) => writeAll(socket, bytes),
        whenRead: () => whenPeerHasRead(socket),
        end: () => void socket.end(),
        reset: () => void socket.resetAndDestroy(),
        get closed() {
          return isClosed
        },
        whenClosed: closed.promise,
        acceptedBytes: () => socket.bytesWritten - socket.writableLength,
      })
      busy = false
      void serveNext()
    }
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk as Buffer])
      void serveNext()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('the raw upstream has no port')

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    last: () => {
      const request = requests.at(-1)
      if (request === undefined) throw new Error('the upstream was asked nothing')
      return request
    },
    answer: (script) => {
      standing = script
    },
    answerOnce: (script) => {
      once.push(script)
    },
    reset: () => {
      once.length = 0
      requests.length = 0
    },
    openConnections: () => sockets.size,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((stopped) => server.close(() => stopped()))
    },
  }
}

function parseRequest(bytes: Buffer): { request: CapturedRequest; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const [method = '', path = ''] = head.split(' ', 2)
  const headers = parseHeaders(head)
  const body = readBody(headers, bytes.subarray(headEnd + 4), { emptyWithoutLength: true })
  if (!body.complete) return undefined
  return {
    request: { method, path, head, headers, body: body.bytes, text: body.bytes.toString() },
    length: headEnd + 4 + body.consumed,
  }
}

async function whenPeerHasRead(socket: Socket): Promise<void> {
  if (process.platform !== 'linux') return
  const portOf = (port = 0) => port.toString(16).toUpperCase().padStart(4, '0')
  const peer = new RegExp(
    `:${portOf(socket.remotePort)} \\w+:${portOf(socket.localPort)} \\w+ \\w+:(\\w+)`,
  )
  await pollUntil(
    'the gateway to read',
    () => Number.parseInt(peer.exec(readFileSync('/proc/net/tcp', 'latin1'))?.[1] ?? '0', 16) === 0,
    { intervalMs: 5 },
  )
}

function writeAll(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((done) => {
    if (socket.destroyed || !socket.writable) return done()
    const finish = (): void => {
      socket.off('close', finish)
      done()
    }
    socket.once('close', finish)
    socket.write(bytes, finish)
  })
}
