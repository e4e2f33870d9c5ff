/** An upstream without a socket: each exchange follows a script, and keeps what it received. */
import type { Deadline, Deadlines, DueCause } from '../../src/net/deadlines.ts'
import type {
  Exchange,
  ExchangeRequest,
  ExchangeTimeouts,
  TakePart,
  TakePiece,
  Upstream,
} from '../../src/net/exchange.ts'
import { UpstreamFailure, type UpstreamFailureType } from '../../src/net/upstream-failure.ts'
import type { ScriptedClock } from './scripted-clock.ts'

type Step =
  | {
      readonly type: 'head'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
    }
  | { readonly type: 'piece'; readonly bytes: Uint8Array }
  | { readonly type: 'pause'; readonly ms: number }
  | { readonly type: 'hold'; readonly until: Promise<void> }
  | { readonly type: 'fail'; readonly failure: UpstreamFailureType }

export type Script = readonly Step[]

/** A real exchange refuses an answer that has one in its head. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/
const EVENT_STREAM = 'text/event-stream; charset=utf-8'

export function head(status: number, headers: Readonly<Record<string, string>> = {}): Step {
  return { type: 'head', status, headers }
}

export function piece(content: string | Uint8Array): Step {
  return { type: 'piece', bytes: Buffer.from(content) }
}

export function pause(ms: number): Step {
  return { type: 'pause', ms }
}

export function hold(until: Promise<void>): Step {
  return { type: 'hold', until }
}

export const SILENCE: Step = hold(new Promise(() => {}))

export const CUT: Step = { type: 'fail', failure: 'connection_lost' }

export const UNREACHABLE: Script = [{ type: 'fail', failure: 'connect_failed' }]

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Script {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const own = { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }
  return [head(status, { ...own, ...headers }), piece(bytes)]
}

export function stream(
  pieces: readonly (string | Uint8Array)[],
  {
    ending = [],
    headers = {},
  }: { ending?: Script; headers?: Readonly<Record<string, string>> } = {},
): Script {
  return [head(200, { 'content-type': EVENT_STREAM, ...headers }), ...pieces.map(piece), ...ending]
}

export interface SentRequest {
  readonly url: string
  readonly addresses: readonly string[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeouts: ExchangeTimeouts
  readonly atMs: number
  taken: number
  /**
   * `open`: neither side has ended it. `whole`: it was read to its end. `closed`: the gateway
   * closed it before that.
   */
  state: 'open' | 'whole' | 'closed' | UpstreamFailureType
}

export class ScriptedUpstream implements Upstream {
  readonly #clock: ScriptedClock
  readonly #deadlines: Deadlines
  readonly #scripts: Script[]
  readonly sent: SentRequest[] = []

  /** @param scripts for the first exchange, the second and so on */
  constructor(clock: ScriptedClock, deadlines: Deadlines, scripts: readonly Script[]) {
    this.#clock = clock
    this.#deadlines = deadlines
    this.#scripts = [...scripts]
  }

  open(request: ExchangeRequest): Exchange {
    return new ScriptedExchange(request, {
      clock: this.#clock,
      deadlines: this.#deadlines,
      begin: (sent) => this.#begin(sent),
    })
  }

  #begin(sent: SentRequest): Script {
    const script = this.#scripts.shift()
    if (script === undefined)
      throw new Error(`The upstream was asked more often than was scripted: ${sent.url}`)
    this.sent.push(sent)
    return script
  }

  script(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts)
  }

  get unusedScripts(): number {
    return this.#scripts.length
  }
}

interface Surroundings {
  readonly clock: ScriptedClock
  readonly deadlines: Deadlines
  readonly begin: (sent: SentRequest) => Script
}

class ScriptedExchange implements Exchange {
  #steps: Step[] = []
  readonly #request: ExchangeRequest
  readonly #around: Surroundings
  readonly #startedAt: number
  readonly #deadline: Deadline
  #outlivesByMs = 0
  readonly #onAbort = () => {
    if (this.#outlivesByMs > 0) this.cancelWithin(this.#outlivesByMs)
    else this.#end('cancelled')
  }
  readonly #ended = Promise.withResolvers<never>()
  #sent: SentRequest | undefined
  #callOffPause: (() => void) | undefined
  isSent = false
  #isOver = false
  #isLeft = false

  constructor(request: ExchangeRequest, around: Surroundings) {
    this.#request = request
    this.#around = around
    this.#startedAt = around.deadlines.now()
    const onDue: Deadline['onDue'] = (cause, reason) => this.#onDue(cause, reason)
    this.#deadline = { dueAt: 0, owner: request.owner, onDue }
    this.#expectWithin(request.timeouts.firstByteMs)
    around.deadlines.add(this.#deadline)
    // Nobody may be reading, and an unhandled rejection would end the process.
    this.#ended.promise.catch(() => {})
    request.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  get isReadOut(): boolean {
    return this.#sent !== undefined && !this.#isOver && this.#steps.length === 0
  }

  async send(): Promise<{ readonly status: number; readonly headers: Headers }> {
    const { url, addresses, common, headers, body, timeouts, totalMs, signal } = this.#request
    if (signal.aborted) {
      // Nobody is asked for a client that has left before.
      this.close()
      throw new UpstreamFailure('cancelled', 'The client left before anything was sent.')
    }
    this.#sent = {
      url,
      addresses,
      headers: common?.join(headers) ?? headers,
      body: Buffer.from(body.toBytes()).toString('utf8'),
      timeouts: { ...timeouts, totalMs },
      atMs: this.#around.clock.passedMs,
      taken: 0,
      state: 'open',
    }
    this.#steps = [...this.#around.begin(this.#sent)]
    this.isSent = this.#steps[0]?.type !== 'fail'
    const step = await this.#nextStep()
    if (step?.type !== 'head') throw new Error('A script has to begin its answer with a head.')
    if (Object.values(step.headers).some((value) => CONTROL.test(value))) {
      this.#end('malformed_answer')
      this.#letGo()
      await this.#ended.promise
    }
    this.#expectWithin(timeouts.firstByteMs)
    return { status: step.status, headers: new Headers(step.headers) }
  }

  async read(): Promise<Uint8Array | undefined> {
    const step = await this.#nextStep()
    if (step === undefined) {
      this.#finish('whole')
      this.#letGo()
      return undefined
    }
    if (step.type !== 'piece') throw new Error('A script has one head.')
    if (this.#sent !== undefined) this.#sent.taken += 1
    this.#expectWithin(this.#request.timeouts.idleMs)
    return step.bytes
  }

  async readWhile(take: TakePiece): Promise<boolean> {
    for (;;) {
      const bytes = await this.read()
      if (bytes === undefined) return false
      if (!take(bytes)) return true
    }
  }

  readPartsWhile(take: TakePart): Promise<boolean> {
    return this.readWhile((bytes) => take(bytes, 0, bytes.byteLength))
  }

  async readAll(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = []
    for (;;) {
      const chunk = await this.read()
      if (chunk === undefined) return Buffer.concat(chunks)
      chunks.push(chunk)
    }
  }

  expectEndWithin(ms: number): void {
    this.#deadline.dueAt = this.#around.deadlines.now() + ms
  }

  outliveSignal(ms: number): void {
    this.#outlivesByMs = ms
  }

  cancelWithin(ms: number): void {
    this.#isLeft = true
    this.expectEndWithin(ms)
  }

  close(): void {
    this.#end('closed')
    this.#letGo()
  }

  async #nextStep(): Promise<Extract<Step, { type: 'head' | 'piece' }> | undefined> {
    try {
      return await this.#followScript()
    } catch (thrown) {
      this.#letGo()
      throw thrown
    }
  }

  async #followScript(): Promise<Extract<Step, { type: 'head' | 'piece' }> | undefined> {
    for (;;) {
      // Every answer takes at least a step of the event loop, as over a socket.
      await Promise.race([this.#ended.promise, Promise.resolve()])
      const step = this.#steps.shift()
      if (step === undefined || step.type === 'head' || step.type === 'piece') return step
      if (step.type === 'fail') this.#end(step.failure)
      await Promise.race([this.#waitFor(step), this.#ended.promise])
    }
  }

  async #waitFor(step: Step): Promise<void> {
    if (step.type === 'hold') await step.until
    if (step.type === 'pause')
      await new Promise<void>((resolve) => {
        this.#callOffPause = this.#around.clock.after(step.ms, resolve)
      })
  }

  #expectWithin(ms: number): void {
    const { totalMs } = this.#request
    this.#deadline.dueAt = Math.min(this.#around.deadlines.now() + ms, this.#startedAt + totalMs)
  }

  #onDue(cause: DueCause, reason: Error | undefined): void {
    const isOver = this.#around.deadlines.now() >= this.#startedAt + this.#request.totalMs
    const hasBegun = (this.#sent?.taken ?? 0) > 0
    const silence = hasBegun ? 'idle_timeout' : 'first_byte_timeout'
    const failure = this.#isLeft ? 'cancelled' : isOver ? 'total_timeout' : silence
    this.#end(cause !== 'due' ? cause : failure, reason)
  }

  #end(as: 'closed' | UpstreamFailureType, cause?: Error): void {
    if (this.#isOver) return
    this.#finish(as)
    const failure = as === 'closed' ? 'cancelled' : as
    this.#ended.reject(
      new UpstreamFailure(failure, `The scripted exchange ended: ${failure}.`, { cause }),
    )
  }

  #finish(state: SentRequest['state']): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#callOffPause?.()
    if (this.#sent !== undefined) this.#sent.state = state
  }

  /** An aborted exchange waits for its opener, so that a forgotten deadline is found. */
  #letGo(): void {
    this.#around.deadlines.remove(this.#deadline)
    this.#request.signal.removeEventListener('abort', this.#onAbort)
  }
}
