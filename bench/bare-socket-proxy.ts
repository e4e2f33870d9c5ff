/**
 * The smallest possible gateway on this runtime's sockets: reads the request, writes it to a
 * persistent connection and answers. Trusts every answer. Has no deadlines, back-pressure, keys or
 * gates.
 */
import type { Socket } from 'bun'

const upstream = new URL(process.argv[3] ?? '')
const isTls = upstream.protocol === 'https:'
/** Most recently used last; taken from the end. */
const idle: Connection[] = []
const NOTHING = Buffer.alloc(0)
const HEAD_END = '\r\n\r\n'
const LINE_END = '\r\n'

interface Relay {
  write(part: Uint8Array): void
  flush(): void
  end(): void
}

interface Awaited {
  readonly status: number
  readonly type: string
  /** Undefined: chunked. */
  readonly bytes: number | undefined
}

class Connection {
  #socket: Socket | undefined
  #unsent: Buffer = NOTHING
  #received: Buffer = NOTHING
  #head: Awaited | undefined
  #relay: Relay | undefined
  #answer = Promise.withResolvers<Response>()

  send(path: string, body: Uint8Array): Promise<Response> {
    const head = `POST ${path} HTTP/1.1\r\nhost: ${upstream.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.byteLength}${HEAD_END}`
    this.#unsent = Buffer.allocUnsafe(head.length + body.byteLength)
    this.#unsent.write(head, 'latin1')
    this.#unsent.set(body, head.length)
    this.#answer = Promise.withResolvers()
    if (this.#socket === undefined) this.#open()
    else this.#write()
    return this.#answer.promise
  }

  #open(): void {
    const begin = (socket: Socket) => {
      this.#socket = socket
      this.#write()
    }
    Bun.connect({
      hostname: upstream.hostname === 'localhost' ? '127.0.0.1' : upstream.hostname,
      port: Number(upstream.port),
      ...(isTls ? { tls: { serverName: upstream.hostname, rejectUnauthorized: true } } : {}),
      socket: {
        open: (socket) => (isTls ? undefined : begin(socket)),
        handshake: (socket, _isTrusted, error) =>
          error === null ? begin(socket) : socket.terminate(),
        data: (_, data) => this.#read(data),
        drain: () => this.#write(),
        close: () => this.#drop(),
        error: () => this.#drop(),
      },
    }).catch(() => this.#drop())
  }

  #write(): void {
    const written = this.#socket?.write(this.#unsent) ?? 0
    this.#unsent = written === this.#unsent.length ? NOTHING : this.#unsent.subarray(written)
  }

  #read(data: Buffer): void {
    this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data])
    this.#head ??= this.#readHead()
    if (this.#head === undefined) return
    const { status, type, bytes } = this.#head
    if (bytes === undefined) {
      this.#readChunks(this.#head)
      return
    }
    if (this.#received.length < bytes) return
    const body = this.#received.subarray(0, bytes)
    this.#rest()
    this.#answer.resolve(new Response(body, { status, headers: { 'content-type': type } }))
  }

  #readHead(): Awaited | undefined {
    const end = this.#received.indexOf(HEAD_END)
    if (end < 0) return undefined
    const text = this.#received.toString('latin1', 0, end)
    this.#received = this.#received.subarray(end + HEAD_END.length)
    const length = /\ncontent-length: *(\d+)/i.exec(text)?.[1]
    return {
      status: Number(text.slice(9, 12)),
      type: /\ncontent-type: *([^\r]+)/i.exec(text)?.[1] ?? '',
      bytes: length === undefined ? undefined : Number(length),
    }
  }

  #readChunks(head: Awaited): void {
    this.#relay ??= this.#beginRelay(head)
    let at = 0
    while (true) {
      const lineEnd = this.#received.indexOf(LINE_END, at)
      if (lineEnd < 0) break
      const size = Number.parseInt(this.#received.toString('latin1', at, lineEnd), 16)
      const begin = lineEnd + LINE_END.length
      if (this.#received.length < begin + size + LINE_END.length) break
      if (size === 0) {
        const relay = this.#relay
        this.#rest()
        relay.end()
        return
      }
      this.#relay.write(this.#received.subarray(begin, begin + size))
      at = begin + size + LINE_END.length
    }
    this.#received = this.#received.subarray(at)
    this.#relay.flush()
  }

  #beginRelay({ status, type }: Awaited): Relay {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    let sink: ReadableStreamDirectController | undefined
    let early: Uint8Array[] = []
    const body = new ReadableStream({
      type: 'direct',
      pull(controller: ReadableStreamDirectController) {
        sink = controller
        for (const part of early) void controller.write(part)
        early = []
        void controller.flush()
        begun.resolve()
        return ended.promise
      },
      cancel: () => {
        this.#socket?.terminate()
      },
    })
    this.#answer.resolve(new Response(body, { status, headers: { 'content-type': type } }))
    return {
      write(part) {
        if (sink === undefined) early.push(part)
        else void sink.write(part)
      },
      flush: () => void sink?.flush(),
      end: () => void begun.promise.then(() => ended.resolve()),
    }
  }

  #rest(): void {
    this.#received = NOTHING
    this.#head = undefined
    this.#relay = undefined
    idle.push(this)
  }

  #drop(): void {
    const place = idle.indexOf(this)
    if (place >= 0) idle.splice(place, 1)
    this.#relay?.end()
    this.#answer.resolve(new Response('the upstream closed its connection', { status: 502 }))
  }
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  idleTimeout: 0,
  development: false,
  async fetch(request) {
    const body = await request.bytes()
    return (idle.pop() ?? new Connection()).send(new URL(request.url).pathname, body)
  },
})
