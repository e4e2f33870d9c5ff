/**
 * A second channel for changes, for nodes that are cut off from the database: a shared store that
 * knows the latest changes, and grants a lease to a node that knows all of them.
 */
import type { AccountId } from '../core/ids.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import type { SharedScript, SharedStore } from './shared-store.ts'

/** A node that is further behind cannot catch up without the database. */
const KEPT_CHANGES = 1_000
const KEPT_MS = 7 * 86_400_000

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * Adds changes, each once. ARGV: the newest number, then number and text of each change.
 * @returns now, the creation time, and node, lease, ack of each node
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
 * Grants a lease. ARGV: node, its known number, lease in ms.
 * @returns granted {1}, refused {0}, or {2, number, text, …} of the missing changes
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

/** Deletes changes above a number, which were undone. ARGV: the number */
const FORGET: SharedScript = {
  name: 'forgetChanges',
  lua: `local seq = tonumber(redis.call('HGET', KEYS[1], 'seq') or '-1')
if seq > tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
return {seq}`,
}

export type FallbackAnswer =
  | { readonly type: 'granted' }
  | { readonly type: 'refused' }
  | { readonly type: 'behind'; readonly changes: readonly FollowedChange[] }

export interface FallbackNodes {
  readonly forgottenMs: number
  readonly byId: ReadonlyMap<string, { readonly leaseMs: number; readonly knownSeq: number }>
}

export interface FallbackFeedOptions {
  readonly store: Pick<SharedStore, 'run'>
  readonly connectedForMs: () => number
  readonly prefix: string
  readonly nodeId: () => string
  readonly leaseMs: number
}

export class FallbackFeed {
  readonly #options: FallbackFeedOptions

  constructor(options: FallbackFeedOptions) {
    this.#options = options
  }

  get connectedForMs(): number {
    return this.#options.connectedForMs()
  }

  /**
   * @param knownSeq this node knows every change up to this number
   * @throws without an answer
   */
  async renew(knownSeq: number, leaseMs: number): Promise<FallbackAnswer> {
    const { store, nodeId, connectedForMs } = this.#options
    // A different server may have taken over without the latest changes, so nodes that know the
    // changes have to publish them again first.
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
   * Publishes changes, so that no node gets a lease without knowing everything up to `seq`.
   * @param changes committed changes, at least those that may not have been published before
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
   * Forgets changes above a number, which a database restored from a backup no longer contains.
   * Their numbers will be reused.
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
