/** A proxy between a process and a server that a test can cut, freeze or slow down. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  readonly port: number
  readonly attempts: readonly number[]
  readonly open: number
  cut(): void
  /** Nothing arrives any more, and nobody is notified; `restore` delivers what was held. */
  freeze(): void
  /** Delays what the server sends. */
  slow(delayMs: number): void
  /** Ends all faults, for existing and new connections. */
  restore(): void
  close(): Promise<void>
}

interface TcpProxyOptions {
  /** Called with what clients send, also while the proxy is frozen. */
  readonly onSent?: (bytes: Buffer | string) => void
}

export async function startTcpProxy(
  serverPort: number,
  { onSent = () => {} }: TcpProxyOptions = {},
): Promise<TcpProxy> {
  const attempts: number[] = []
  const links = new Set<Link>()
  const wire: Wire = { state: 'open', delayMs: 0 }
  const server = createServer((client) => {
    attempts.push(performance.now())
    const link = new Link(client, { wire, serverPort, onSent, onClosed: () => links.delete(link) })
    links.add(link)
    if (wire.state === 'cut') link.reset()
    else link.deliver()
  })
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const resetAll = () => {
    for (const link of [...links]) link.reset()
  }
  return {
    port: (server.address() as AddressInfo).port,
    attempts,
    get open() {
      return links.size
    },
    cut: () => {
      wire.state = 'cut'
      resetAll()
    },
    freeze: () => {
      wire.state = 'frozen'
    },
    slow: (delayMs) => {
      wire.delayMs = delayMs
    },
    restore: () => {
      wire.state = 'open'
      wire.delayMs = 0
      for (const link of [...links]) link.deliver()
    },
    close: async () => {
      resetAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

interface Wire {
  state: 'open' | 'frozen' | 'cut'
  delayMs: number
}

interface LinkOptions {
  readonly wire: Wire
  readonly serverPort: number
  readonly onSent: (bytes: Buffer | string) => void
  readonly onClosed: () => void
}

class Link {
  readonly #client: Socket
  readonly #options: LinkOptions
  readonly #toServer: Lane
  readonly #toClient: Lane
  #server: Socket | undefined

  constructor(client: Socket, options: LinkOptions) {
    this.#client = client
    this.#options = options
    this.#toServer = new Lane(options.wire, () => 0)
    this.#toClient = new Lane(options.wire, () => options.wire.delayMs)
    this.#toServer.push(() => this.#connect())
    client.setNoDelay(true)
    client.on('data', (bytes) => {
      options.onSent(bytes)
      this.#toServer.push(() => this.#server?.write(bytes))
    })
    client.on('error', () => {})
    client.on('close', () => {
      this.#toServer.push(() => {
        this.#server?.end()
        options.onClosed()
      })
    })
  }

  deliver(): void {
    this.#toServer.deliver()
    this.#toClient.deliver()
  }

  reset(): void {
    this.#toServer.discard()
    this.#toClient.discard()
    this.#client.resetAndDestroy()
    this.#server?.destroy()
    this.#options.onClosed()
  }

  #connect(): void {
    const server = connect({ port: this.#options.serverPort, host: '127.0.0.1' })
    this.#server = server
    server.setNoDelay(true)
    server.on('data', (bytes) => this.#toClient.push(() => this.#client.write(bytes)))
    server.on('error', () => {})
    server.on('close', () => this.#toClient.push(() => this.#client.end()))
  }
}

class Lane {
  readonly #wire: Wire
  readonly #delayMs: () => number
  #waiting: { readonly dueAtMs: number; readonly act: () => void }[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(wire: Wire, delayMs: () => number) {
    this.#wire = wire
    this.#delayMs = delayMs
  }

  push(act: () => void): void {
    this.#waiting.push({ dueAtMs: performance.now() + this.#delayMs(), act })
    this.deliver()
  }

  deliver(): void {
    clearTimeout(this.#timer)
    while (this.#wire.state === 'open') {
      const next = this.#waiting[0]
      if (next === undefined) return
      const leftMs = next.dueAtMs - performance.now()
      if (leftMs > 0 && this.#wire.delayMs > 0) {
        this.#timer = setTimeout(() => this.deliver(), Math.ceil(leftMs))
        return
      }
      this.#waiting.shift()
      next.act()
    }
  }

  discard(): void {
    clearTimeout(this.#timer)
    this.#waiting = []
  }
}
