/**
 * One connection to an upstream: opened, if needed through a proxy and with TLS, then used for one
 * request after the other.
 */

import { isIP } from 'node:net'
import type { Socket, SocketHandler, TLSOptions } from 'bun'
import type { EditedBytes } from '../core/edited-bytes.ts'
import { type AnswerHead, AnswerParser, type AnswerReceiver } from './answer-parser.ts'
import { bodyMemory } from './body-memory.ts'
import { MalformedMessage } from './message-parser.ts'
import type { HttpProxy } from './proxies.ts'
import { head, SCRATCH_FROM, SocketOutput, scratch } from './socket-output.ts'

export interface Route {
  /** Connections with the same key are interchangeable. */
  readonly key: string
  /** A name, or the checked IP address; without brackets. */
  readonly address: string
  readonly port: number
  /** The name that the certificate must have; undefined: no TLS. */
  readonly serverName: string | undefined
  readonly proxy: HttpProxy | undefined
  /**
   * Keep-alive time assumed when the upstream sends none, in milliseconds. Infinite: longer than
   * the gateway's own.
   */
  readonly assumedKeepAliveMs: number
}

/**
 * Receives one answer or its failure: exactly one of `onEnd` and `onLost`, which is the last call.
 */
export interface AnswerListener
  extends Required<Pick<AnswerReceiver, 'onHead' | 'onPart' | 'onEnd'>> {
  onLost(cause: Error): void
}

export interface WireRequest {
  /** The request line and the first headers; shared by several requests. */
  readonly beginning: Uint8Array
  /** The remaining headers without the body's length, in Latin-1. */
  readonly lines: string
  readonly body: EditedBytes
}

export interface ConnectionKeeper {
  /** The connection may be reused. `keepAliveMs` is the upstream's limit, if it sent a limit. */
  onFree(connection: Connection, keepAliveMs: number | undefined): void
  /**
   * Called once, in any phase.
   * @param isLost the upstream closed the connection or made it unusable
   */
  onOver(connection: Connection, isLost: boolean): void
}

/** TLS sessions by route key. A session of a verified connection shortens the next handshake. */
export type TlsSessions = Map<string, Buffer>

export interface ConnectionOptions {
  readonly route: Route
  readonly keeper: ConnectionKeeper
  readonly sessions: TlsSessions
}

const LARGE_PART_BYTES = 64 * 1024
/** Idle time after which the kernel sends TCP keep-alive probes, in milliseconds. */
const PROBE_AFTER_MS = 30_000
const MAX_SESSIONS = 1_000

type Phase = 'connecting' | 'tunnel' | 'handshake' | 'free' | 'busy' | 'over'

export class Connection implements AnswerReceiver {
  readonly #options: ConnectionOptions
  readonly #ready = Promise.withResolvers<Connection>()
  #phase: Phase = 'connecting'
  #socket: UpstreamSocket | undefined
  #output: SocketOutput | undefined
  #parser: AnswerParser | undefined
  #listener: AnswerListener | undefined
  #isPaused = false
  #isTunnelled = false
  #held: readonly Uint8Array[] = NOTHING_HELD

  private constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Starts to connect. An attempt cannot be cancelled, so `whenReady` need not be awaited. */
  static open(options: ConnectionOptions): Connection {
    const connection = new Connection(options)
    connection.#connect()
    return connection
  }

  whenReady(): Promise<Connection> {
    return this.#ready.promise
  }

  get isOver(): boolean {
    return this.#phase === 'over'
  }

  /** The TCP connection to the first server is established; proxy and TLS handshakes may follow. */
  get isReached(): boolean {
    return this.#socket !== undefined
  }

  /**
   * Call only while no other request is open.
   * @returns true when anything may have been sent; if false, the connection is over and the asker
   * is not notified
   */
  send(request: WireRequest, listener: AnswerListener): boolean {
    if (this.#phase !== 'free') return false
    this.#phase = 'busy'
    this.#listener = listener
    if (this.#parser === undefined) this.#parser = new AnswerParser(this)
    else this.#parser.expectNext()
    if (this.#send(request)) return true
    this.#listener = undefined
    this.drop()
    return false
  }

  /** Stops reading, so the upstream has to wait. */
  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  /** Closes immediately; no callbacks after this. Idempotent. */
  drop(): void {
    if (this.#phase === 'over') return
    this.#listener = undefined
    this.#end()
    // Sends a reset, because the rest of the answer is not needed.
    this.#socket?.terminate()
  }

  close(): void {
    if (this.#phase === 'over') return
    this.#end()
    this.#socket?.end()
  }

  onHead(head: AnswerHead): void {
    this.#listener?.onHead(head)
  }

  onPart(bytes: Buffer, from: number, to: number): void {
    this.#listener?.onPart(bytes, from, to)
  }

  /** Freed before the asker is notified, so its next request can use the connection. */
  onEnd(): void {
    const parser = this.#parser
    const listener = this.#listener
    this.#listener = undefined
    // An upstream that answers before reading the whole request would read the rest as the next
    // request.
    if (
      parser?.isReusable === true &&
      this.#output?.isWaiting === false &&
      this.#phase === 'busy'
    ) {
      this.#phase = 'free'
      this.resume()
      const { keepAliveS } = parser
      this.#options.keeper.onFree(this, keepAliveS === undefined ? undefined : keepAliveS * 1000)
    } else this.drop()
    listener?.onEnd()
  }

  #connect(): void {
    const { proxy, address, port } = this.#options.route
    const serverName = this.#firstServerName()
    Bun.connect<Connection>({
      hostname: proxy?.host ?? address,
      port: proxy?.port ?? port,
      data: this,
      socket: HANDLERS,
      ...(serverName === undefined ? {} : { tls: toTls(serverName) }),
    }).catch((thrown: unknown) => this.#lose(toError(thrown)))
  }

  #firstServerName(): string | undefined {
    const { proxy, serverName } = this.#options.route
    if (proxy === undefined) return serverName
    return proxy.isSecure ? proxy.host : undefined
  }

  /** The socket below a tunnel's TLS still reports events, which are ignored. */
  #isCurrent(socket: UpstreamSocket): boolean {
    return socket === this.#socket
  }

  #onOpen(socket: UpstreamSocket): void {
    if (this.#phase === 'over') socket.terminate()
    if (this.#phase !== 'connecting') return
    this.#use(socket)
    socket.setKeepAlive(true, PROBE_AFTER_MS)
    if (this.#firstServerName() === undefined) this.#onReached(socket)
    else this.#awaitHandshake(socket)
  }

  #onReached(socket: UpstreamSocket): void {
    const { proxy, serverName } = this.#options.route
    if (proxy === undefined || serverName === undefined) this.#becomeFree()
    else if (proxy.isSecure)
      this.#lose(new Error('A proxy with an https:// address cannot be used for https upstreams.'))
    else this.#askForTunnel(socket, proxy)
  }

  #awaitHandshake(socket: UpstreamSocket): void {
    this.#phase = 'handshake'
    const session = this.#options.sessions.get(this.#options.route.key)
    if (session !== undefined) socket.setSession?.(session)
  }

  /**
   * Asks the proxy for a tunnel, inside which TLS is end to end with the upstream (RFC 9110
   * §9.3.6).
   */
  #askForTunnel(socket: UpstreamSocket, proxy: HttpProxy): void {
    const { address, port } = this.#options.route
    const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`
    const permission =
      proxy.authorization === undefined ? '' : `proxy-authorization: ${proxy.authorization}\r\n`
    this.#phase = 'tunnel'
    this.#parser = new AnswerParser(
      {
        onHead: ({ status }) => {
          if (status > 299)
            this.#lose(new Error(`The proxy refused the connection (HTTP ${status}).`))
        },
        onEnd: () => this.#secureTunnel(socket),
      },
      true,
    )
    const question = `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${permission}\r\n`
    if (this.#output?.sendOwned(Buffer.from(question, 'latin1')) !== true)
      this.#lose(new Error('The proxy closed the connection.'))
  }

  #secureTunnel(socket: UpstreamSocket): void {
    if (this.#phase !== 'tunnel') return
    this.#parser = undefined
    const { serverName = '' } = this.#options.route
    const [, secured] = socket.upgradeTLS<Connection>({
      data: this,
      // In a tunnel, the server name must be set even for an IP address. Otherwise the runtime
      // would accept the proxy's certificate for the upstream.
      tls: { ...toTls(serverName), serverName },
      socket: HANDLERS,
    })
    this.#use(secured)
    this.#isTunnelled = true
    this.#awaitHandshake(secured)
  }

  #onHandshake(socket: UpstreamSocket, error: Error | null): void {
    if (this.#phase !== 'handshake') return
    // The runtime may report success together with an error, so check the error.
    if (error !== null) this.#lose(error)
    else if (this.#isTunnelled) this.#becomeFree()
    else this.#onReached(socket)
  }

  #becomeFree(): void {
    this.#phase = 'free'
    this.#ready.resolve(this)
  }

  #onSession(session: Buffer): void {
    const { sessions, route } = this.#options
    // A session of an unverified connection would make the next connection unverified.
    if (this.#phase !== 'free' && this.#phase !== 'busy') return
    if (sessions.size >= MAX_SESSIONS) sessions.clear()
    sessions.set(route.key, session)
  }

  #onData(bytes: Buffer): void {
    const parser = this.#parser
    if (this.#phase === 'over') return
    if (parser === undefined || this.#phase === 'free') {
      this.#lose(new MalformedMessage('The upstream sent data without a request.'))
      return
    }
    try {
      parser.push(bytes)
    } catch (thrown) {
      this.#lose(toError(thrown))
    }
  }

  /** The upstream sends nothing more, and bytes sent to it now may be lost. */
  #onEndOfInput(): void {
    if (this.#phase === 'busy') this.#parser?.close()
    this.#lose(new Error('The upstream closed the connection.'))
  }

  /**
   * A reset does not complete an answer, because more bytes may have been on their way (RFC 9112
   * §8).
   */
  #onClose(error: Error | undefined): void {
    if (error === undefined) this.#onEndOfInput()
    else this.#lose(error)
  }

  #lose(cause: Error): void {
    if (this.#phase === 'over') return
    const listener = this.#listener
    this.#listener = undefined
    this.#end(cause)
    this.#socket?.terminate()
    listener?.onLost(cause)
  }

  #end(cause?: Error): void {
    this.#phase = 'over'
    this.#output?.close()
    this.#giveBack()
    this.#ready.reject(cause ?? new Error('The connection was closed by the gateway.'))
    this.#options.keeper.onOver(this, cause !== undefined)
  }

  #use(socket: UpstreamSocket): void {
    this.#socket = socket
    this.#output = new SocketOutput(socket)
  }

  #send({ beginning, lines, body }: WireRequest): boolean {
    const output = this.#output
    if (output === undefined) return false
    head.begin(beginning)
    head.text(lines)
    head.field('content-length', String(body.byteLength))
    head.text('\r\n')
    const { end } = head
    if (end + body.byteLength <= scratch.length)
      return output.sendScratch(body.writeInto(scratch, end))
    const whole = Buffer.from(scratch.subarray(SCRATCH_FROM, end))
    const parts = joinSmall([whole, ...body.parts()])
    const isSent = output.sendAll(parts)
    if (output.isWaiting) {
      this.#held = parts
      for (const part of parts) bodyMemory.hold(part)
    }
    return isSent
  }

  #onDrain(): void {
    if ((this.#output?.drain() ?? 0) < 0)
      this.#lose(new Error('The upstream closed the connection.'))
    else if (this.#output?.isWaiting === false) this.#giveBack()
  }

  #giveBack(): void {
    const held = this.#held
    this.#held = NOTHING_HELD
    for (const part of held) bodyMemory.release(part)
  }

  static readonly handlers: SocketHandler<Connection> & {
    session(socket: Socket<Connection>, session: Buffer): void
  } = {
    open: (socket) => socket.data.#onOpen(socket),
    handshake: (socket, _isAuthorized, error) => socket.data.#onHandshake(socket, error),
    session: (socket, session) => socket.data.#onSession(session),
    data: (socket, bytes) => {
      if (socket.data.#isCurrent(socket)) socket.data.#onData(bytes)
    },
    drain: (socket) => {
      if (socket.data.#isCurrent(socket)) socket.data.#onDrain()
    },
    end: (socket) => socket.data.#onEndOfInput(),
    close: (socket, error) => socket.data.#onClose(error),
    error: (socket, error) => socket.data.#lose(error),
    // The promise of `Bun.connect` reports the same error, so this callback ignores the error.
    connectError: () => undefined,
  }
}

const HANDLERS = Connection.handlers

/** The runtime has methods for TLS sessions that its types lack. */
type UpstreamSocket = Socket<Connection> & { setSession?(session: Buffer): void }

const NOTHING_HELD: readonly Uint8Array[] = []

/** Each part is a separate write, so small parts are joined. */
function joinSmall(parts: readonly Uint8Array[]): Uint8Array[] {
  const joined: Uint8Array[] = []
  let small: Uint8Array[] = []
  for (const part of parts) {
    if (part.byteLength < LARGE_PART_BYTES) small.push(part)
    else {
      joined.push(Buffer.concat(small), part)
      small = []
    }
  }
  joined.push(Buffer.concat(small))
  return joined.filter((part) => part.byteLength > 0)
}

function toTls(serverName: string): TLSOptions {
  return {
    // A bare IP address is not sent as a server name (RFC 6066 §3).
    ...(isIP(serverName) === 0 ? { serverName } : {}),
    // Set explicitly, so no environment variable can disable the check.
    rejectUnauthorized: true,
    ALPNProtocols: HTTP_1_1,
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** ALPN format: the length before the name. */
const HTTP_1_1 = Buffer.from('\x08http/1.1')
