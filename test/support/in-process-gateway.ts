/**
 * The data plane in this process, between a scripted client and a scripted upstream: no sockets, no
 * files, no waiting.
 */

import type { TokenRules } from '../../src/core/access-token.ts'
import { hashApiKey } from '../../src/core/api-key.ts'
import { TOOL_KINDS, type ToolKind, type ToolUses } from '../../src/core/cost.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { type Gate, USUAL_GATE } from '../../src/core/gate.ts'
import type { AccountId, GateId, KeyId } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import type { Stop } from '../../src/core/stop.ts'
import { type AddedHeaders, CallHeaders } from '../../src/gateway/attempt/call-headers.ts'
import { CircuitBreakers } from '../../src/gateway/attempt/circuit-breakers.ts'
import { RefusedMembers } from '../../src/gateway/attempt/refused-members.ts'
import { BodyBudget } from '../../src/gateway/call.ts'
import type { CallObserver } from '../../src/gateway/call-observer.ts'
import { createDataPlane } from '../../src/gateway/data-plane.ts'
import { RevokedCalls } from '../../src/gateway/end-revoked-calls.ts'
import { UsualOutput } from '../../src/gateway/estimate-output.ts'
import type { PipelinePorts } from '../../src/gateway/pipeline.ts'
import { TargetOrder } from '../../src/gateway/plan/order-targets.ts'
import type {
  Caller,
  Credential,
  Freshness,
  Ledger,
  OwnedUpstream,
  Refusals,
} from '../../src/gateway/ports.ts'
import { SeenReasoning } from '../../src/gateway/settle/seen-reasoning.ts'
import { TurnTargets } from '../../src/gateway/turn-targets.ts'
import { Deadlines } from '../../src/net/deadlines.ts'
import type { ExchangeTimeouts } from '../../src/net/exchange.ts'
import { type Answer, type HttpRequest, toResponse } from '../../src/net/messages.ts'
import { StreamedAnswer } from '../../src/net/streamed-answer.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { ScriptedClock } from './scripted-clock.ts'
import { ScriptedLedger } from './scripted-ledger.ts'
import { type LimitsScript, ScriptedLimits } from './scripted-limits.ts'
import { type Script, ScriptedUpstream } from './scripted-upstream.ts'

export const CALLER_KEY = `sk-svc-${'a1'.repeat(32)}`
export const CALLER: Caller = {
  accountId: 'acct_caller' as AccountId,
  keyId: 'key_caller' as KeyId,
  limits: {
    requestsPerMinute: Number.POSITIVE_INFINITY,
    tokensPerMinute: Number.POSITIVE_INFINITY,
    concurrentCalls: Number.POSITIVE_INFINITY,
  },
  owner: hashApiKey(CALLER_KEY),
}

/** The credential for a provider, which tests search for where it must not appear. */
export function plantedCredentialOf(providerId: string): string {
  return `planted-${providerId}-0123456789abcdef`
}

/** A gate as its test needs it: its targets, and what of the rest is not usual. */
export type GateScript = readonly string[] | (Partial<Gate> & Pick<Gate, 'targets'>)

export interface GatewayScript {
  readonly gates: Readonly<Record<string, GateScript>>
  readonly upstream?: readonly Script[]
  readonly limits?: LimitsScript
  readonly ledger?: Partial<Ledger>
  readonly credentials?: Readonly<Record<string, 'account' | 'none' | GatewayError | Credential>>
  /** Provider ids; all others have one. */
  readonly withoutAddress?: readonly string[]
  readonly ownedModels?: readonly OwnedUpstream[]
  readonly addresses?: Partial<PipelinePorts['addresses']>
  readonly isOutOfHandles?: () => boolean
  readonly freshness?: Freshness
  readonly observer?: CallObserver
  readonly unusable?: PipelinePorts['unusable']
  readonly refusals?: Refusals
  readonly timeouts?: Partial<ExchangeTimeouts>
  readonly keepAliveMs?: number
  readonly commitAfterMs?: number
  readonly bodyLimits?: Partial<PipelinePorts['bodyLimits']>
  readonly addedHeaders?: AddedHeaders
  readonly maxHeldBodyBytes?: number
  readonly token?: TokenRules
  /** Absent: calls are not attributed. */
  readonly attributions?: PipelinePorts['attributions']
  readonly fixed?: Caller['fixed']
  readonly clientAddress?: string
  readonly isOperators?: true
  readonly overlay?: PipelinePorts['overlay']
  readonly hasNoPrices?: true
  readonly prices?: PipelinePorts['prices']
  /** Absent: no facts of models are known. */
  readonly facts?: PipelinePorts['facts']
}

const TIMEOUTS: ExchangeTimeouts = {
  connectMs: 2_000,
  firstByteMs: 20_000,
  idleMs: 10_000,
  totalMs: 60_000,
}
const KEEP_ALIVE_MS = 15_000
const COMMIT_AFTER_MS = 15_000
export const REVOKED_CALLS_MS = 2_000
const BODY_LIMITS = { maxBodyBytes: 64 * 1024, bodyTimeoutMs: 5_000 }

/** The price of a token in millionths of a US dollar. */
const INPUT_PRICE = 1
const OUTPUT_PRICE = 10
const FREE = 'openai/free'
export const SEARCH_FEE = 1000
/** The fee of a call that offers tools without reported uses. */
export const OTHER_TOOL_FEE = 30

export interface ClientRequest {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | null>>
  /**
   * Text or bytes are sent unchanged, with their length; a stream without a length; anything else
   * as JSON.
   */
  readonly body?: unknown
}

export interface ClientScript {
  /** Hangs up this many milliseconds after the request. */
  readonly leavesAfterMs?: number
  /** Hangs up after this many events of the answer; 0 for after its head. */
  readonly leavesAfterEvents?: number
  /** The time that the client needs for each piece. */
  readonly msForEachPiece?: number
}

export interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: readonly string[]
  readonly text: string
  /** `cut`: the body broke off. `left`: the client hung up. */
  readonly ending: 'whole' | 'cut' | 'left'
}

export interface BegunCall {
  readonly seen: Promise<Seen>
  leave(): void
}

export class InProcessGateway {
  readonly clock = new ScriptedClock()
  readonly deadlines = new Deadlines(this.clock)
  readonly breakers = new CircuitBreakers(this.clock)
  readonly upstream: ScriptedUpstream
  readonly limits: ScriptedLimits
  readonly ledger: ScriptedLedger
  readonly bodyBudget: BodyBudget
  readonly failures: GatewayError[] = []
  /** Ids of keys, and providers of the account's own credentials, each time that they were used. */
  readonly touched: string[] = []
  readonly ports: PipelinePorts
  #isKeyDeleted = false
  #stop: Stop | undefined
  readonly #revoked: RevokedCalls
  readonly #clientAddress: string | undefined
  readonly #find: ReturnType<typeof createDataPlane>['find']

  constructor(script: GatewayScript) {
    const gates = Object.entries(script.gates).map(([id, gate]) => toGate(id, gate))
    this.upstream = new ScriptedUpstream(this.clock, this.deadlines, script.upstream ?? [])
    this.limits = new ScriptedLimits(script.limits)
    this.ledger = new ScriptedLedger(script.ledger)
    this.bodyBudget = new BodyBudget(script.maxHeldBodyBytes ?? Number.POSITIVE_INFINITY)
    const credentials = new Map<string, Credential>()
    const ownedModels = script.ownedModels ?? []
    const { token, fixed } = script
    const caller = token === undefined && fixed === undefined ? CALLER : { ...CALLER, token, fixed }
    this.#clientAddress = script.clientAddress
    this.ports = {
      clock: this.clock,
      keys: {
        find: (sha256) =>
          sha256 === hashApiKey(CALLER_KEY) && !this.#isKeyDeleted
            ? withStop(caller, this.#stop)
            : undefined,
        touch: (keyId) => void this.touched.push(keyId),
      },
      freshness: script.freshness,
      gates: {
        findNamed: (accountId, name) =>
          accountId === CALLER.accountId ? gates.find((gate) => isNamed(gate, name)) : undefined,
        findCatchAll: (accountId) =>
          accountId === CALLER.accountId ? gates.find((gate) => gate.isCatchAll) : undefined,
        list: (accountId) => (accountId === CALLER.accountId ? gates : []),
      },
      ownedModels: { find: (_, slug) => ownedModels.find((owned) => owned.slug === slug) },
      addresses: {
        resolve: async () => ['203.0.113.7'],
        locate: async (url) => ({ url, host: undefined, serverName: undefined }),
        avoid: () => {},
        ...script.addresses,
      },
      facts: script.facts,
      attributions: script.attributions,
      limits: this.limits,
      ledger: this.ledger,
      prices: script.hasNoPrices === true ? undefined : (script.prices ?? SCRIPTED_PRICES),
      credentials: {
        find: (_, providerId) => {
          const kind = script.credentials?.[providerId] ?? 'platform'
          if (kind === 'none') return undefined
          if (kind instanceof GatewayError) throw kind
          if (typeof kind === 'object') return kind
          const known = credentials.get(providerId)
          const credential = known ?? {
            secret: new Secret(plantedCredentialOf(providerId)),
            owner: kind,
          }
          credentials.set(providerId, credential)
          return credential
        },
        touch: (_, providerId) => void this.touched.push(providerId),
      },
      providers: new Map(
        [...PROVIDERS].filter(([id]) => script.withoutAddress?.includes(id) !== true),
      ),
      breakers: this.breakers,
      reasoning: new SeenReasoning(),
      usualOutput: new UsualOutput(),
      turns: new TurnTargets(),
      order: new TargetOrder(this.breakers),
      upstream: this.upstream,
      deadlines: this.deadlines,
      revoked: { reasonFor: (call) => this.#revoked.reasonFor(call) },
      isOutOfDescriptors: script.isOutOfHandles,
      timeouts: { ...TIMEOUTS, ...script.timeouts },
      keepAliveMs: script.keepAliveMs ?? KEEP_ALIVE_MS,
      commitAfterMs: script.commitAfterMs ?? COMMIT_AFTER_MS,
      bodyBudget: this.bodyBudget,
      callHeaders: new CallHeaders(script.addedHeaders),
      overlay: script.overlay,
      operatorAccount: script.isOperators === true ? CALLER.accountId : undefined,
      bodyLimits: { ...BODY_LIMITS, ...script.bodyLimits },
      observer: script.observer,
      unusable: script.unusable,
      refusedMembers: new RefusedMembers(this.clock),
      refusals: script.refusals,
      reportFailure: (error) => void this.failures.push(error),
    }
    this.#find = createDataPlane(this.ports).find
    this.#revoked = new RevokedCalls({
      clock: this.clock,
      keys: this.ports.keys,
      stops: { find: () => undefined },
      deadlines: this.deadlines,
      withinMs: REVOKED_CALLS_MS,
    })
  }

  /** Revokes the key of all calls, which end at the next check. */
  deleteKey(): void {
    this.#isKeyDeleted = true
    this.clock.after(REVOKED_CALLS_MS, this.#revoked.start())
  }

  /** As `deleteKey`, without a look at running calls. */
  deleteKeyQuietly(): void {
    this.#isKeyDeleted = true
  }

  /** Stops the caller's access token. @returns what ended at once */
  stopToken(reason: string | null): ReturnType<RevokedCalls['end']> {
    const { accountId, keyId: id } = CALLER
    this.#stop = { accountId, id, reason, createdAt: 0, createdBy: null }
    return this.#revoked.end()
  }

  /** A call from its request to its end, in scripted time. */
  ask(request: ClientRequest, client: ClientScript = {}): Promise<Seen> {
    return this.clock.finish(this.begin(request, client).seen)
  }

  serve(request: HttpRequest): Promise<Answer> {
    const handle = this.#find(new URL(request.url).pathname)
    if (handle === undefined) throw new Error(`The data plane has no door at ${request.url}.`)
    return handle(request)
  }

  /** Begins a call and leaves time standing still until the test moves the clock. */
  begin(
    { path, method = 'POST', headers, body }: ClientRequest,
    client: ClientScript = {},
  ): BegunCall {
    const [door = ''] = path.split('?', 1)
    const handle = this.#find(door)
    if (handle === undefined) throw new Error(`The data plane has no door at ${path}.`)
    const leaving = new AbortController()
    const content = toContent(body)
    const request = new Request(`http://gateway.test${path}`, {
      method,
      headers: toHeaders({ ...contentHeaders(content), ...headers }),
      ...(content === undefined ? {} : { body: content }),
      signal: leaving.signal,
    })
    const reading = new ReadingClient(this.clock, client, leaving)
    const answer = handle(request, () => this.#clientAddress)
    return { seen: reading.read(answer.then(toResponse)), leave: () => reading.leave() }
  }

  /** @throws when a call has left something behind */
  async assertNothingIsLeft(): Promise<void> {
    // The deadlines' sweep ends itself without deadlines.
    if (this.deadlines.size === 0) await this.clock.advance(50)
    const left = [
      ...this.limits.problems(),
      ...this.ledger.problems(),
      ...(this.ledger.records.length === this.limits.tickets.length
        ? []
        : [
            `${this.limits.tickets.length} calls were admitted, ${this.ledger.records.length} were settled`,
          ]),
      ...this.upstream.sent
        .filter(({ state }) => state === 'open')
        .map(({ url }) => `${url} is still open`),
      ...(this.upstream.unusedScripts === 0
        ? []
        : [`${this.upstream.unusedScripts} scripts of the upstream were never asked for`]),
      ...(this.bodyBudget.heldBytes === 0
        ? []
        : [`${this.bodyBudget.heldBytes} bytes of bodies are still held`]),
      ...(this.deadlines.size === 0
        ? []
        : [`${this.deadlines.size} deadlines are still waited for`]),
      ...(this.clock.pending === 0 ? [] : [`${this.clock.pending} timers are still set`]),
    ]
    if (left.length > 0) throw new Error(`When all was over: ${left.join('; ')}.`)
  }
}

class ReadingClient {
  readonly #clock: ScriptedClock
  readonly #script: ClientScript
  readonly #leaving: AbortController
  readonly #pieces: string[] = []
  readonly #left = Promise.withResolvers<'left'>()
  #source: StreamedAnswer['source'] | undefined

  constructor(clock: ScriptedClock, script: ClientScript, leaving: AbortController) {
    this.#clock = clock
    this.#script = script
    this.#leaving = leaving
  }

  /** Aborts the request and cancels the answer's body, as a server does when a connection ends. */
  leave(): void {
    if (this.#leaving.signal.aborted) return
    this.#leaving.abort()
    this.#source?.cancel()?.catch(() => {})
    this.#left.resolve('left')
  }

  async read(answer: Promise<Response>): Promise<Seen> {
    const { leavesAfterMs } = this.#script
    const callOff =
      leavesAfterMs === undefined ? undefined : this.#clock.after(leavesAfterMs, () => this.leave())
    try {
      const response = await answer
      const ending = await this.#readBody(response)
      const headers = Object.fromEntries(response.headers)
      return {
        status: response.status,
        headers,
        pieces: this.#pieces,
        text: this.#pieces.join(''),
        ending,
      }
    } finally {
      callOff?.()
    }
  }

  async #readBody(response: Response): Promise<Seen['ending']> {
    if (response instanceof StreamedAnswer) return await this.#readStream(response)
    if (this.#script.leavesAfterEvents === 0) this.leave()
    const text = await response.text()
    if (this.#leaving.signal.aborted) return 'left'
    if (text !== '') this.#pieces.push(text)
    return 'whole'
  }

  /** Reads as a server does, with back-pressure. */
  async #readStream({ source }: StreamedAnswer): Promise<Seen['ending']> {
    this.#source = source
    const { leavesAfterEvents } = this.#script
    if (this.#leaving.signal.aborted) await source.cancel()
    else if (leavesAfterEvents === 0) this.leave()
    if (this.#leaving.signal.aborted) return 'left'
    const decoder = new TextDecoder()
    const sending = source.pull({
      write: (bytes) => {
        if (this.#leaving.signal.aborted) return 0
        const piece = decoder.decode(bytes as Uint8Array, { stream: true })
        this.#pieces.push(piece)
        const events = this.#pieces.join('').split('\n\n').length - 1
        if (leavesAfterEvents !== undefined && events >= leavesAfterEvents)
          queueMicrotask(() => this.leave())
        return this.#take(piece.length)
      },
      flush: () => 0,
      close: () => {},
    })
    const ending = sending.then(
      () => 'whole' as const,
      () => 'cut' as const,
    )
    const first = await Promise.race([this.#left.promise, ending])
    // The gateway's work after a client has left belongs to the call.
    await ending
    return first
  }

  #take(length: number): number | Promise<number> {
    const { msForEachPiece } = this.#script
    if (msForEachPiece === undefined) return length
    // A client that leaves waits for nothing more.
    const taking = new Promise<number>((resolve) =>
      this.#clock.after(msForEachPiece, () => resolve(length)),
    )
    return Promise.race([taking, this.#left.promise.then(() => 0)])
  }
}

/** Each provider has its own host, so that a sent request shows its provider. */
const PROVIDERS: PipelinePorts['providers'] = new Map(
  catalog.map((provider) => [
    provider.id,
    { ...provider, baseUrl: `https://${provider.id}.test/base` },
  ]),
)

const FEES: Readonly<Record<ToolKind, number>> = {
  webSearch: SEARCH_FEE,
  fileSearch: 200,
  codeInterpreter: 300,
  imageGeneration: 400,
  otherTool: OTHER_TOOL_FEE,
}

const feesOf = (uses: ToolUses) =>
  TOOL_KINDS.reduce((sum, kind) => sum + (uses[kind] ?? 0) * FEES[kind], 0)

const SCRIPTED_PRICES: PipelinePorts['prices'] = {
  isPriced: (_, target, { isSurcharged }) => !target.includes('unpriced') && isSurcharged !== true,
  feesOf: (_, tools) => tools.reduce((sum, kind) => sum + FEES[kind], 0),
  get inForce() {
    return this
  },
  priceOf: ({ target, usage, isEstimated, otherPrices = [], tools = [], toolUses = {} }) => {
    if (target === FREE) return { nanoUsd: 0, status: 'exact', source: 'free' }
    const uses = tools.includes('otherTool') ? { ...toolUses, otherTool: 1 } : toolUses
    const hasUses = Object.keys(uses).length > 0
    if (usage === null && !hasUses) return { nanoUsd: null, status: 'unknown', source: null }
    const tokens =
      (usage?.inputTokens ?? 0) * INPUT_PRICE + (usage?.outputTokens ?? 0) * OUTPUT_PRICE
    const isExact = isEstimated !== true && otherPrices.length === 0 && !hasUses
    return {
      nanoUsd: tokens + feesOf(uses),
      status: isExact ? 'exact' : 'estimated',
      source: 'scripted',
    }
  },
}

function toGate(id: string, script: GateScript): Gate {
  const said = isTargetList(script) ? { targets: script.map((model) => ({ model })) } : script
  return {
    accountId: CALLER.accountId,
    id: id as GateId,
    displayName: id,
    description: '',
    ...USUAL_GATE,
    timeoutMs: null,
    maxRetries: 0,
    createdAt: 1_780_000_000_000,
    updatedAt: 1_780_000_000_000,
    ...said,
  }
}

function isNamed(gate: Gate, name: string): boolean {
  return gate.id === name || gate.aliases.some((alias) => alias.name === name)
}

function isTargetList(script: GateScript): script is readonly string[] {
  return Array.isArray(script)
}

type Content =
  | string
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array<ArrayBuffer>>
  | undefined

function toContent(body: unknown): Content {
  if (body === undefined || typeof body === 'string' || body instanceof ReadableStream) return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

function contentHeaders(content: Content): Record<string, string> {
  if (content === undefined || content instanceof ReadableStream) return {}
  return { 'content-length': String(Buffer.byteLength(content)) }
}

function toHeaders(said: Readonly<Record<string, string | null>>): Record<string, string> {
  const all = {
    authorization: `Bearer ${CALLER_KEY}`,
    'content-type': 'application/json',
    ...said,
  }
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
  )
}

function withStop(caller: Caller, stop: Stop | undefined): Caller {
  return stop === undefined ? caller : { ...caller, stop }
}
