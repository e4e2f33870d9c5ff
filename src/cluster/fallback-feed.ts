/**
 * The nodes' second way to hear of changes: a shared store that knows the last changes, and gives a
 * lease to a node that knows them all. For nodes that are cut off from the database. Must not know
 * what changes mean.
 */
import type { AccountId } from '../core/ids.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import type { SharedScript, SharedStore } from './shared-store.ts'

/** Further back than this nobody catches up without the database. */
const KEPT_CHANGES = 1_000
const KEPT_MS = 7 * 86_400_000

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * Adds changes, each once. ARGV: the newest number, then number and text of each.
 * @returns now, born, and node, lease, ack of each
 */
const PUBLISH: SharedScript = {
  name: 'tellChanges',
  lua: `${NOW}
local key = KEYS[1]
if redis.call('HSETNX', key, 'born', now) == 1 then redis.call('HSET', key, 'seq', ARGV[1]) end
for index = 2, #ARGV, 2 do
  redis.call('HSETNX', key, 'c:' .. ARGV[index], ARGV[index + 1])
  redis.call('HDEL', key, 'c:' .. string.format('%d', tonumber(ARGV[index]) - ${KEPT_CHANGES}))
end
if tonumber(redis.call('HGET', key, 'seq')) < tonumber(ARGV[1]) then redis.call('HSET', key, 'seq', ARGV[1]) end
redis.call('PEXPIRE', key, ${KEPT_MS})
local answer = {now, tonumber(redis.call('HGET', key, 'born'))}
local fields = redis.call('HGETALL', key)
for index = 1, #fields, 2 do
  local node = string.match(fields[index], '^n:(.*)$')
  if node then
    local lease, ack = string.match(fields[index + 1], '^(%d+) (%d+)$')
    if tonumber(lease) < now - 3600000 then redis.call('HDEL', key, fields[index])
    else
      table.insert(answer, node)
      table.insert(answer, tonumber(lease))
      table.insert(answer, tonumber(ack))
    end
  end
end
return answer`,
}

/**
 * ARGV: node, what it knows, lease in ms.
 * @returns granted {1}, refused {0}, or {2, number, text, …} of what it lacks
 */
const RENEW: SharedScript = {
  name: 'vouchFor',
  lua: `${NOW}
local key = KEYS[1]
local seq = tonumber(redis.call('HGET', key, 'seq') or '-1')
local known = tonumber(ARGV[2])
if seq < known or seq - known > ${KEPT_CHANGES} then return {0} end
if seq == known then
  redis.call('HSET', key, 'n:' .. ARGV[1], string.format('%d %d', now + tonumber(ARGV[3]), known))
  return {1}
end
local answer = {2}
for number = known + 1, seq do
  local text = redis.call('HGET', key, 'c:' .. string.format('%d', number))
  if not text then return {0} end
  table.insert(answer, number)
  table.insert(answer, text)
end
return answer`,
}

/** Anything known beyond that number never happened. ARGV: the number */
const FORGET: SharedScript = {
  name: 'forgetChanges',
  lua: `local seq = tonumber(redis.call('HGET', KEYS[1], 'seq') or '-1')
if seq > tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
return {seq}`,
}

export type FallbackAnswer =
  | { readonly type: 'granted' }
  /** It knows less than who asks, or not enough to tell what is lacking. */
  | { readonly type: 'refused' }
  | { readonly type: 'behind'; readonly changes: readonly FollowedChange[] }

export interface FallbackNodes {
  /**
   * Milliseconds that every lease may still have that this store may have forgotten; 0: it has
   * forgotten none.
   */
  readonly forgottenMs: number
  readonly byId: ReadonlyMap<string, { readonly leaseMs: number; readonly knownSeq: number }>
}

export interface FallbackFeedOptions {
  readonly store: Pick<SharedStore, 'run'>
  /**
   * For how long this node has had its connection: milliseconds; another server may answer since.
   */
  readonly connectedForMs: () => number
  readonly prefix: string
  readonly nodeId: () => string
  /** The longest lease that any node asks for. */
  readonly leaseMs: number
}

export class FallbackFeed {
  readonly #options: FallbackFeedOptions

  constructor(options: FallbackFeedOptions) {
    this.#options = options
  }

  /** Milliseconds. */
  get connectedForMs(): number {
    return this.#options.connectedForMs()
  }

  /** @param knownSeq up to which this node knows every change @throws when there is no answer */
  async renew(knownSeq: number, leaseMs: number): Promise<FallbackAnswer> {
    const { store, nodeId, connectedForMs } = this.#options
    // Another server may have taken over, and lost the latest: those who know it have to tell it
    // first.
    if (connectedForMs() < this.#options.leaseMs) return { type: 'refused' }
    const [outcome, ...parts] = await store.run(RENEW, this.#key, [nodeId(), knownSeq, leaseMs])
    if (outcome === 1) return { type: 'granted' }
    if (outcome !== 2) return { type: 'refused' }
    const changes: FollowedChange[] = []
    for (let index = 0; index + 1 < parts.length; index += 2)
      changes.push(toChange(Number(parts[index]), String(parts[index + 1])))
    return { type: 'behind', changes }
  }

  /**
   * When it resolves, no lease is given to a node that does not know everything up to `seq`.
   * @param changes some that were committed, in any case those that nobody may have told before
   */
  async publish(seq: number, changes: readonly FollowedChange[]): Promise<FallbackNodes> {
    const { store, leaseMs, connectedForMs } = this.#options
    const told = changes.flatMap((change) => [change.seq, toText(change)])
    const [now, born, ...rows] = await store.run(PUBLISH, this.#key, [seq, ...told])
    const byId = new Map<string, { leaseMs: number; knownSeq: number }>()
    for (let index = 0; index + 2 < rows.length; index += 3)
      byId.set(String(rows[index]), {
        leaseMs: Number(rows[index + 1]) - Number(now),
        knownSeq: Number(rows[index + 2]),
      })
    const sinceMs = Math.min(Number(now) - Number(born), connectedForMs())
    return { forgottenMs: Math.max(0, leaseMs - sinceMs), byId }
  }

  /**
   * The database was set back: what it does not hold any more must not be told, and its numbers
   * will be given anew.
   */
  async forget(seq: number): Promise<void> {
    await this.#options.store.run(FORGET, this.#key, [seq])
  }

  get #key(): string {
    return `${this.#options.prefix}:changes`
  }
}

function toText({ accountId, resourceType, resourceId, operation }: FollowedChange): string {
  return JSON.stringify([operation, resourceType, resourceId, accountId])
}

function toChange(seq: number, text: string): FollowedChange {
  const [operation, resourceType, resourceId, accountId] = JSON.parse(text) as [
    FollowedChange['operation'],
    string,
    string,
    AccountId,
  ]
  return { seq, operation, resourceType, resourceId, accountId }
}
