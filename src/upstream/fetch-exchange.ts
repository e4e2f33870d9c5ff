/**
 * An exchange with an upstream by `fetch`: send, wait, read, under deadlines for connecting, the first byte, silence and
 * the whole. Knows no LLM.
 */
import type { Deadline, Deadlines, DueCause } from './deadlines.ts'
import type { Exchange, ExchangeRequest } from './exchange.ts'
import { probeConnection } from './probe-connection.ts'
import { UpstreamFailure, type UpstreamFailureType } from './upstream-failure.ts'

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Phase = 'connect' | 'first_byte' | 'body' | 'closed'

/** What it is called when a deadline falls due in each phase. */
const SILENCES: Record<Phase, UpstreamFailureType> = {
  connect: 'connect_timeout',
  first_byte: 'first_byte_timeout',
  body: 'idle_timeout',
  closed: 'idle_timeout',
}

export class FetchExchange implements Exchange {
  readonly #deadlines: Deadlines
  readonly #request: ExchangeRequest
  readonly #controller = new AbortController()
  readonly #startedAt: number
  readonly #deadline: Deadline
  readonly #onAbort: () => void
  #phase: Phase = 'connect'
  #endedBy: UpstreamFailureType | undefined
  #response: Response | undefined
  #reader: Reader | undefined

  constructor(deadlines: Deadlines, request: ExchangeRequest) {
    this.#deadlines = deadlines
    this.#request = request
    this.#startedAt = deadlines.now()
    this.#onAbort = () => this.#abort('cancelled')
    this.#deadline = { dueAt: 0, owner: request.owner, onDue: (cause) => this.#onDue(cause) }
    this.#wait(request.timeouts.connectMs / 2)
    deadlines.add(this.#deadline)
    request.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  async send(): Promise<{ readonly status: number; readonly headers: Headers }> {
    const { url, serverName, headers, body, signal } = this.#request
    if (signal.aborted) this.#abort('cancelled')
    const init: BunFetchRequestInit = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: this.#controller.signal,
      timeout: false,
      // What is inflated is not counted: a megabyte became 1.4 GB. Whoever reads the head refuses what is encoded.
      decompress: false,
    }
    if (serverName !== undefined) init.tls = { serverName }
    try {
      this.#response = await fetch(url, init)
    } catch (thrown) {
      throw this.#fail(thrown, isConnectError(thrown) ? 'connect_failed' : 'connection_lost')
    }
    this.#phase = 'first_byte'
    this.#wait(this.#request.timeouts.firstByteMs)
    return this.#response
  }

  read(): Promise<Uint8Array | undefined> {
    this.#reader ??= this.#response?.body?.getReader() as Reader | undefined
    return this.#reader?.read().then(this.#onRead, this.#onReadFailed) ?? Promise.resolve(undefined)
  }

  // Made once and not for each chunk: this runs for every event of every stream.
  readonly #onRead = ({ done, value }: { done: boolean; value?: Uint8Array | undefined }) => {
    if (done) {
      this.#finish()
      return undefined
    }
    this.#phase = 'body'
    this.#wait(this.#request.timeouts.idleMs)
    return value
  }

  readonly #onReadFailed = (thrown: unknown): never => {
    throw this.#fail(thrown, 'connection_lost')
  }

  async readAll(): Promise<Uint8Array> {
    try {
      const bytes = await this.#response?.bytes()
      this.#finish()
      return bytes ?? new Uint8Array(0)
    } catch (thrown) {
      throw this.#fail(thrown, 'connection_lost')
    }
  }

  expectEndWithin(ms: number): void {
    this.#deadline.dueAt = this.#deadlines.now() + ms
  }

  close(): void {
    if (this.#phase === 'closed') return
    this.#finish()
    this.#controller.abort()
  }

  #wait(ms: number): void {
    const now = this.#deadlines.now()
    this.#deadline.dueAt = Math.min(now + ms, this.#startedAt + this.#request.timeouts.totalMs)
  }

  #onDue(cause: DueCause): void {
    const { timeouts, url } = this.#request
    const isOver = this.#deadlines.now() >= this.#startedAt + timeouts.totalMs
    if (cause !== 'due' || isOver || this.#phase !== 'connect') {
      this.#abort(cause !== 'due' ? cause : isOver ? 'total_timeout' : SILENCES[this.#phase])
      return
    }
    // No answer after half the time for connecting. `fetch` does not say whether it is connected, so ask the address:
    // one that accepts connections is slow, not unreachable.
    this.#phase = 'first_byte'
    this.#wait(timeouts.firstByteMs - timeouts.connectMs / 2)
    this.#deadlines.add(this.#deadline)
    probeConnection(new URL(url), timeouts.connectMs / 2).then((isAccepted) => {
      if (!isAccepted && this.#response === undefined) this.#abort('connect_timeout')
    })
  }

  #abort(type: UpstreamFailureType): void {
    if (this.#phase === 'closed') return
    this.#endedBy ??= type
    this.#controller.abort()
  }

  #finish(): void {
    this.#phase = 'closed'
    this.#deadlines.remove(this.#deadline)
    this.#request.signal.removeEventListener('abort', this.#onAbort)
  }

  #fail(thrown: unknown, fallback: UpstreamFailureType): UpstreamFailure {
    this.#finish()
    const type = this.#endedBy ?? fallback
    return new UpstreamFailure(type, FAILURE_MESSAGES[type], { cause: thrown })
  }
}

const FAILURE_MESSAGES: Record<UpstreamFailureType, string> = {
  connect_failed: 'The connection to the upstream could not be made.',
  connect_timeout: 'The upstream did not accept a connection in time.',
  first_byte_timeout: 'The upstream did not begin to answer in time.',
  idle_timeout: 'The upstream fell silent in the middle of its answer.',
  total_timeout: 'The upstream did not finish its answer in time.',
  connection_lost: 'The upstream closed the connection before its answer was complete.',
  shutdown: 'The gateway is shutting down and could wait no longer for the upstream.',
  revoked: 'Whoever asked for this may not go on.',
  cancelled: 'The client left before the answer was complete.',
}

const CONNECT_ERRORS = new Set([
  'ConnectionRefused',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'FailedToOpenSocket',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

function isConnectError(thrown: unknown): boolean {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    CONNECT_ERRORS.has(String((thrown as { code?: unknown }).code))
  )
}
