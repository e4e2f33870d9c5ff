/**
 * One connection to an upstream: made, perhaps through a proxy and under TLS, then asked one
 * question after the other. Knows no pools and no LLM.
 */

import { isIP } from 'node:net'
import type { Socket, SocketHandler, TLSOptions } from 'bun'
import type { EditedBytes } from '../core/edited-bytes.ts'
import { type AnswerHead, AnswerParser, type AnswerReceiver } from './answer-parser.ts'
import { bodyMemory } from './body-memory.ts'
import { MalformedMessage } from './message-parser.ts'
import type { HttpProxy } from './proxies.ts'
import { head, SCRATCH_FROM, SocketOutput, scratch } from './socket-output.ts'

/** The way from this process to an upstream. */
export interface Route {
  /** Connections of the same key may take each other's place. */
  readonly key: string
  /** A name, or the very address that was checked; without brackets. */
  readonly address: string
  readonly port: number
  /** The name that the certificate must have; undefined: there is no TLS. */
  readonly serverName: string | undefined
  readonly proxy: HttpProxy | undefined
  /**
   * How long its servers keep an idle connection where they do not say, in milliseconds. Infinite:
   * longer than we do.
   */
  readonly assumedKeepAliveMs: number
}

/**
 * Hears of one answer, or of its failure: of one of `onEnd` and `onLost`, and after that of
 * nothing.
 */
export interface Asker extends Required<Pick<AnswerReceiver, 'onHead' | 'onPart' | 'onEnd'>> {
  /** The connection ended, or what came is no answer. */
  onLost(cause: Error): void
}

/** A request to send. */
export interface Question {
  /** The request line and the first headers; other questions may begin with the same bytes. */
  readonly beginning: Uint8Array
  /** The other headers but for the body's length, in Latin-1. */
  readonly lines: string
  readonly body: EditedBytes
}

/** The events that a connection reports to its keeper. */
export interface ConnectionKeeper {
  /**
   * It has brought a whole answer and may be asked again, now or within so many milliseconds, where
   * its upstream said so.
   */
  onFree(connection: Connection, keepAliveMs: number | undefined): void
  /**
   * It is no more. Called once, whatever it was doing.
   * @param isLost its upstream ended it, or made it useless
   */
  onOver(connection: Connection, isLost: boolean): void
}

/**
 * TLS sessions by the key of their route: what a verified connection was given shortens the next
 * one's handshake.
 */
export type TlsSessions = Map<string, Buffer>

export interface ConnectionOptions {
  readonly route: Route
  readonly keeper: ConnectionKeeper
  readonly sessions: TlsSessions
}

const LARGE_PART_BYTES = 64 * 1024
/** After how long without a byte the kernel asks whether the other side is still there. */
const PROBE_AFTER_MS = 30_000
const MAX_SESSIONS = 1_000

type Phase = 'connecting' | 'tunnel' | 'handshake' | 'free' | 'asked' | 'over'

export class Connection implements AnswerReceiver {
  readonly #options: ConnectionOptions
  readonly #ready = Promise.withResolvers<Connection>()
  #phase: Phase = 'connecting'
  #socket: UpstreamSocket | undefined
  #output: SocketOutput | undefined
  #parser: AnswerParser | undefined
  #asker: Asker | undefined
  #isPaused = false
  #isTunnelled = false
  /** Parts of a body of which some still wait for the kernel. */
  #held: readonly Uint8Array[] = NOTHING_HELD

  private constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /**
   * Begins to connect. A connection that is under way cannot be called back: `whenReady` may be
   * left alone.
   */
  static open(options: ConnectionOptions): Connection {
    const connection = new Connection(options)
    connection.#connect()
    return connection
  }

  /** @throws Error (rejects) that says why there is no connection */
  whenReady(): Promise<Connection> {
    return this.#ready.promise
  }

  get isOver(): boolean {
    return this.#phase === 'over'
  }

  /** The first server on the way has taken it, whatever is still to be said there. */
  get isReached(): boolean {
    return this.#socket !== undefined
  }

  /**
   * Sends a question; to be called when nothing else is asked.
   * @returns whether anything can have been sent: if not, the connection is over and the asker
   * hears nothing
   */
  ask(question: Question, asker: Asker): boolean {
    if (this.#phase !== 'free') return false
    this.#phase = 'asked'
    this.#asker = asker
    if (this.#parser === undefined) this.#parser = new AnswerParser(this)
    else this.#parser.expectNext()
    if (this.#send(question)) return true
    this.#asker = undefined
    this.drop()
    return false
  }

  /** Stops reading, so that the upstream has to wait. */
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

  /** Ends it at once; whoever asks hears nothing any more. Safe to call again. */
  drop(): void {
    if (this.#phase === 'over') return
    this.#asker = undefined
    this.#end()
    // A reset: nobody waits for the rest of this answer.
    this.#socket?.terminate()
  }

  /** Ends an idle connection in good order. */
  close(): void {
    if (this.#phase === 'over') return
    this.#end()
    this.#socket?.end()
  }

  onHead(head: AnswerHead): void {
    this.#asker?.onHead(head)
  }

  onPart(bytes: Buffer, from: number, to: number): void {
    this.#asker?.onPart(bytes, from, to)
  }

  /** Free before the asker hears of the end, so that its next question finds it. */
  onEnd(): void {
    const parser = this.#parser
    const asker = this.#asker
    this.#asker = undefined
    // An upstream that answers before it has read the question reads its rest for the next one.
    if (
      parser?.isReusable === true &&
      this.#output?.isWaiting === false &&
      this.#phase === 'asked'
    ) {
      this.#phase = 'free'
      this.resume()
      const { keepAliveS } = parser
      this.#options.keeper.onFree(this, keepAliveS === undefined ? undefined : keepAliveS * 1000)
    } else this.drop()
    asker?.onEnd()
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

  /**
   * The name that the first server's certificate must have; undefined: that server speaks no TLS.
   */
  #firstServerName(): string | undefined {
    const { proxy, serverName } = this.#options.route
    if (proxy === undefined) return serverName
    return proxy.isSecure ? proxy.host : undefined
  }

  /** The socket under a tunnel's TLS goes on telling what passes through it. */
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

  /** The first server on the way is reached, and is who it should be. */
  #onReached(socket: UpstreamSocket): void {
    const { proxy, serverName } = this.#options.route
    if (proxy === undefined || serverName === undefined) this.#becomeFree()
    else if (proxy.isSecure)
      this.#lose(
        new Error('A proxy with an https:// address cannot be used for upstreams with one.'),
      )
    else this.#askForTunnel(socket, proxy)
  }

  #awaitHandshake(socket: UpstreamSocket): void {
    this.#phase = 'handshake'
    const session = this.#options.sessions.get(this.#options.route.key)
    if (session !== undefined) socket.setSession?.(session)
  }

  /**
   * A tunnel through the proxy, in which TLS then is between us and the upstream alone (RFC 9110
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
      // In a tunnel a bare address is said too: the runtime would look for the proxy's in the
      // certificate, and take a call meant for the upstream to whoever has that one.
      tls: { ...toTls(serverName), serverName },
      socket: HANDLERS,
    })
    this.#use(secured)
    this.#isTunnelled = true
    this.#awaitHandshake(secured)
  }

  #onHandshake(socket: UpstreamSocket, error: Error | null): void {
    if (this.#phase !== 'handshake') return
    // Success can be told beside an error: only its absence counts.
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
    // A session of a connection that was not verified would open the next one unverified.
    if (this.#phase !== 'free' && this.#phase !== 'asked') return
    if (sessions.size >= MAX_SESSIONS) sessions.clear()
    sessions.set(route.key, session)
  }

  #onData(bytes: Buffer): void {
    const parser = this.#parser
    if (this.#phase === 'over') return
    if (parser === undefined || this.#phase === 'free') {
      this.#lose(new MalformedMessage('The upstream speaks without having been asked.'))
      return
    }
    try {
      parser.push(bytes)
    } catch (thrown) {
      this.#lose(toError(thrown))
    }
  }

  /** The other side will say nothing more, and what is sent to it now may be lost. */
  #onEndOfInput(): void {
    if (this.#phase === 'asked') this.#parser?.close()
    this.#lose(new Error('The upstream closed the connection.'))
  }

  /** A reset is the end of no answer: more of it may have been on its way (RFC 9112 §8). */
  #onClose(error: Error | undefined): void {
    if (error === undefined) this.#onEndOfInput()
    else this.#lose(error)
  }

  #lose(cause: Error): void {
    if (this.#phase === 'over') return
    const asker = this.#asker
    this.#asker = undefined
    this.#end(cause)
    this.#socket?.terminate()
    asker?.onLost(cause)
  }

  #end(cause?: Error): void {
    this.#phase = 'over'
    this.#output?.close()
    this.#giveBack()
    this.#ready.reject(cause ?? new Error('The connection was given up.'))
    this.#options.keeper.onOver(this, cause !== undefined)
  }

  #use(socket: UpstreamSocket): void {
    this.#socket = socket
    this.#output = new SocketOutput(socket)
  }

  /** @returns whether anything can have been sent */
  #send({ beginning, lines, body }: Question): boolean {
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

  /** Nothing of them is read here any more. */
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
    // The promise of `Bun.connect` tells the same.
    connectError: () => undefined,
  }
}

const HANDLERS = Connection.handlers

/** The runtime gives and takes TLS sessions, which its types do not say. */
type UpstreamSocket = Socket<Connection> & { setSession?(session: Buffer): void }

const NOTHING_HELD: readonly Uint8Array[] = []

/** Each part is a write of its own. */
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
    // A bare address stands for itself, and has no place in the handshake (RFC 6066 §3).
    ...(isIP(serverName) === 0 ? { serverName } : {}),
    // Said here, so that no variable of the environment opens it.
    rejectUnauthorized: true,
    ALPNProtocols: HTTP_1_1,
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** In the handshake's form: the length before the name. */
const HTTP_1_1 = Buffer.from('\x08http/1.1')
