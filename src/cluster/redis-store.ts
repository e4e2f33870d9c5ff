import { randomBytes } from 'node:crypto'
import { Cluster, type Redis } from 'ioredis'
import type { RedisSettings } from '../config/redis-settings.ts'
import { retryDelayMs } from '../core/retry-delay.ts'
import type { SharingMode } from '../core/shared-stores.ts'
import { createRedisClient, type RedisClient } from './redis-client.ts'
import type { SharedScript, SharedStore } from './shared-store.ts'

const BEAT_MS = 2_000
/** A node that was silent for this long no longer counts. */
const NODE_LEASE_MS = 10_000
const OTHERS = "Redis is another installation's"
/** The maximum length of a found text that messages quote in place of an id. */
const LONGEST_ID = 64
/** If the connection fails sooner after a return, the next attempt is delayed further. */
const SETTLED_MS = 10_000
/** More concurrent requests than this mean that answers have stopped. */
const MAX_UNDER_WAY = 5_000

/**
 * Reports that a node is alive. Begins with a command that a full Redis refuses: once a script has
 * written anything, all its further writes are allowed.
 * @returns the ids of alive nodes
 */
const BEAT: SharedScript = {
  name: 'beat',
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] == '0' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return redis.call('ZRANGE', KEYS[1], 0, -1)`,
}

const CLAIM: SharedScript = {
  name: 'claim',
  lua: `
local found = redis.call('GET', KEYS[1])
if found then return {found} end
redis.call('SET', KEYS[1], ARGV[1])
return {ARGV[1]}`,
}

export function installationKey(prefix: string): string {
  return `${prefix}:installation`
}

export interface RedisStoreState {
  readonly isReady: boolean
  readonly other: string | undefined
  readonly mode: SharingMode
  readonly nodes: number
  readonly sinceMs: number
  readonly failures: number
  readonly questions: number
  readonly underWay: number
}

export interface RedisStoreOptions {
  readonly settings: RedisSettings
  /**
   * The installation that must own Redis; undefined when each node has its own id, so that nothing
   * is compared.
   */
  readonly installationId?: string | undefined
  readonly onChange?: (state: RedisStoreState, error?: unknown) => void
  readonly onNewNode?: () => void
  readonly createClient?: typeof createRedisClient
}

export class RedisStore implements SharedStore {
  readonly nodeId = randomBytes(6).toString('hex')
  readonly #settings: RedisSettings
  readonly #installationId: string | undefined
  readonly #onChange: NonNullable<RedisStoreOptions['onChange']>
  readonly #onNewNode: () => void
  readonly #client: RedisClient
  readonly #defined = new Set<string>()
  #isReady = false
  #isClosed = false
  #changedAtMs = performance.now()
  #nodes = 1
  #knownNodes: ReadonlySet<unknown> = new Set()
  #failures = 0
  #questions = 0
  #underWay = 0
  #lastError: unknown
  #hasToldOfStart = false
  #other: string | undefined
  #failedBeats = 0
  #relapses = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: RedisStoreOptions) {
    const {
      settings,
      installationId,
      onChange,
      onNewNode,
      createClient = createRedisClient,
    } = options
    this.#settings = settings
    this.#installationId = installationId
    this.#onNewNode = onNewNode ?? (() => {})
    this.#onChange = onChange ?? (() => {})
    this.#client = createClient(settings, (error) => {
      this.#lastError = error
      this.#tellOfStart()
    })
    this.#client.on('ready', () => this.#beatIn(Math.random() * 50))
    this.#client.on('close', () =>
      this.#leave(this.#lastError ?? new Error('the connection was closed')),
    )
  }

  get mode(): SharingMode {
    if (this.#isReady) return 'shared'
    const { choice, graceMs } = this.#settings.outage
    return performance.now() - this.#changedAtMs > graceMs ? 'closed' : choice
  }

  get nodes(): number {
    return this.#nodes
  }

  state(): RedisStoreState {
    return {
      isReady: this.#isReady,
      other: this.#other,
      mode: this.mode,
      nodes: this.#nodes,
      sinceMs: Math.round(performance.now() - this.#changedAtMs),
      failures: this.#failures,
      questions: this.#questions,
      underWay: this.#underWay,
    }
  }

  async open(): Promise<void> {
    try {
      await this.#client.connect()
      await this.#beat()
    } catch (error) {
      // The client reports the reason first and the closed connection second, so the first error is
      // kept.
      this.#lastError ??= error
      this.#tellOfStart()
      this.#beatIn(retryDelayMs(1))
    }
  }

  async run(
    script: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    if (!this.#isReady) throw new Error(this.#other === undefined ? 'Redis is away' : OTHERS)
    if (this.#underWay >= MAX_UNDER_WAY) throw new Error('too many questions wait for Redis')
    return await this.#ask(script, key, args)
  }

  /** Announces the shutdown, so that other nodes need not wait for this node's lease to end. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    if (this.#isReady) await this.#ask(BEAT, this.#nodesKey, [this.nodeId, 0]).catch(() => {})
    this.#isReady = false
    this.#client.disconnect()
  }

  get #nodesKey(): string {
    return `${this.#settings.prefix}:nodes`
  }

  async #ask(script: SharedScript, key: string, args: readonly (string | number)[]) {
    if (!this.#defined.has(script.name)) {
      this.#client.defineCommand(script.name, { numberOfKeys: 1, lua: script.lua })
      this.#defined.add(script.name)
    }
    // The client has a method for each script.
    const commands = this.#client as unknown as Record<
      string,
      (...parts: unknown[]) => Promise<unknown>
    >
    this.#questions += 1
    this.#underWay += 1
    try {
      const answer = await commands[script.name]?.(key, ...args)
      if (!Array.isArray(answer)) throw new Error(`an answer of ${script.name} that is no list`)
      return answer as readonly unknown[]
    } catch (error) {
      this.#failures += 1
      this.#relapse(error)
      throw error
    } finally {
      this.#underWay -= 1
    }
  }

  /** Reports once, with the first reason, that Redis was unavailable from the beginning. */
  #tellOfStart(): void {
    if (this.#hasToldOfStart || this.#isReady || this.#isClosed) return
    this.#hasToldOfStart = true
    // Another installation's Redis was reported already, so it is not reported again.
    if (this.#other === undefined) this.#onChange(this.state(), this.#lastError)
  }

  /**
   * Handles a Redis that answers the beat but not other commands. Without a pause the state would
   * change continuously.
   */
  #relapse(error: unknown): void {
    if (!this.#isReady) return
    const isEarly = performance.now() - this.#changedAtMs < SETTLED_MS
    this.#relapses = isEarly ? this.#relapses + 1 : 0
    this.#leave(error, this.#relapses)
  }

  /** Leaves Redis at the first failure, so that following calls do not wait for an answer too. */
  #leave(error: unknown, relapses = 0): void {
    if (this.#isClosed) return
    this.#lastError = error
    if (!this.#isReady) return
    this.#isReady = false
    this.#changedAtMs = performance.now()
    this.#onChange(this.state(), error)
    this.#beatIn(retryDelayMs(relapses))
  }

  #beatIn(delayMs: number): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#beat().catch(() => {}), delayMs)
    this.#timer.unref()
  }

  /**
   * Runs first on each connection and then repeatedly, because a different server may answer at the
   * same address.
   */
  async #claim(): Promise<void> {
    const own = this.#installationId
    if (own === undefined) return
    const [found] = await this.#ask(CLAIM, installationKey(this.#settings.prefix), [own])
    if (found === own) {
      this.#other = undefined
      return
    }
    const other = String(found).slice(0, LONGEST_ID)
    const isNews = this.#other !== other
    this.#other = other
    const error = new Error(OTHERS)
    if (this.#isReady) this.#leave(error)
    else if (isNews && !this.#isClosed) this.#onChange(this.state(), error)
    throw error
  }

  async #beat(): Promise<void> {
    try {
      await this.#claim()
      const nodes = await this.#ask(BEAT, this.#nodesKey, [this.nodeId, NODE_LEASE_MS])
      if (this.#isClosed) return
      // Shortly after an outage other nodes may not be known yet, so the number of nodes does not
      // fall.
      const isNewlyReady = !this.#isReady || performance.now() - this.#changedAtMs < NODE_LEASE_MS
      this.#nodes = Math.max(isNewlyReady ? this.#nodes : 1, nodes.length)
      this.#failedBeats = 0
      if (!this.#isReady) {
        this.#isReady = true
        this.#changedAtMs = performance.now()
        this.#onChange(this.state())
      } else if (nodes.some((node) => !this.#knownNodes.has(node))) this.#onNewNode()
      this.#knownNodes = new Set(nodes)
      this.#beatIn(BEAT_MS * (0.75 + Math.random() / 2))
    } catch (error) {
      this.#failedBeats += 1
      this.#beatIn(retryDelayMs(this.#failedBeats))
      throw error
    }
  }
}

/** The keys of nodes in Redis, without the prefix. */
const OWN_KEYS = ['nodes', 'changes', 'key:*', 'used:*']
const KEYS_AT_ONCE = 500
const WITHIN_MS = 10_000

/**
 * Takes over a Redis for this installation. Another installation's counts are deleted; the database
 * fills the counts again.
 * @returns the previous owner, if another installation
 * @throws without an answer
 */
export async function takeRedis(
  settings: RedisSettings,
  installationId: string,
): Promise<string | undefined> {
  let failure: unknown
  const client = createRedisClient(settings, (error) => {
    failure = error
  })
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(failure ?? new Error('no answer')), WITHIN_MS)
  try {
    return await Promise.race([take(client, settings.prefix, installationId), late.promise])
  } catch (error) {
    // The connection's own error says more than the command's error.
    throw failure ?? error
  } finally {
    clearTimeout(timer)
    client.disconnect()
  }
}

async function take(
  client: RedisClient,
  prefix: string,
  installationId: string,
): Promise<string | undefined> {
  await client.connect()
  const key = installationKey(prefix)
  const found = await client.get(key)
  if (found === installationId) return undefined
  if (found !== null) await forgetCounts(client, prefix)
  await client.set(key, installationId)
  return found ?? undefined
}

async function forgetCounts(client: RedisClient, prefix: string): Promise<void> {
  const servers = client instanceof Cluster ? client.nodes('master') : [client]
  for (const server of servers)
    for (const name of OWN_KEYS) await forgetMatching(server, `${prefix}:${name}`)
}

async function forgetMatching(server: Redis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE)
    // One by one, because a cluster refuses a command with keys in several slots.
    await Promise.all(keys.map((key) => server.unlink(key)))
    cursor = next
  } while (cursor !== '0')
}
