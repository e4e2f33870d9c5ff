/**
 * The script for a key's limits in the shared store, and its arguments and answer. All data of a
 * key are in one hash, so that a cluster stores them in one slot.
 */
import type { SharedScript } from '../cluster/shared-store.ts'

export interface BucketDemand {
  /** Per minute; infinite when the bucket is not requested. */
  readonly limit: number
  readonly charge: number
  /** The debt of this node's share, when the store has lost its data. */
  readonly missing: number
  readonly wanted: number
  /** Minimum grant; fewer units are useless to the node. */
  readonly atLeast: number
  /**
   * Units that a call needs and that may be lent, because no other call runs on this node; 0 for no
   * loan.
   */
  readonly lendTo: number
  readonly held: number
}

export interface KeyDemand {
  readonly nodeId: string
  /**
   * Milliseconds since the Unix epoch; 0 for the store's own clock, the only clock that all nodes
   * share.
   */
  readonly nowMs: number
  readonly leaseMs: number
  readonly birth: string
  readonly nodes: number
  readonly requests: BucketDemand
  readonly tokens: BucketDemand
  readonly slots: {
    readonly limit: number
    readonly wanted: number
    /** Slots already taken; the node keeps these slots even above the limit. */
    readonly running: number
  }
}

export interface BucketGrant {
  readonly granted: number
  /** Remaining content of the shared bucket, in parts (token-bucket.ts); negative for a debt. */
  readonly parts: number
  readonly isLent: boolean
}

export interface KeyGrant {
  readonly birth: string
  readonly requests: BucketGrant
  readonly tokens: BucketGrant
  readonly slots: number
}

export const READ_HASH = `if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local whole = function(number) return string.format('%.0f', number) end
local stored = redis.call('HGETALL', KEYS[1])
local known = {}
for at = 1, #stored, 2 do known[stored[at]] = stored[at + 1] end
local changes = {}
local set = function(field, value) changes[#changes + 1] = field; changes[#changes + 1] = value end
local birth = known['birth']
if not birth then
  birth = node .. '.' .. whole(now)
  set('birth', birth)
end`

/**
 * A killed store returns without its data. The first node to ask then assumes that every node's
 * share lacks as much as its own, and each other node corrects that once. Slots are fields
 * `count:until`, one per node. A bucket in debt lends to a call if no other call of the key runs on
 * any node (TokenBucket.lends).
 */
export const KEY_SCRIPT: SharedScript = {
  name: 'gatehousekey',
  lua: `
local node, now, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
${READ_HASH}
local isNew, isLost = not known['birth'], ARGV[4] ~= '' and ARGV[4] ~= birth
local nodes = tonumber(ARGV[18])
local live = 0

local limit, wanted, running = tonumber(ARGV[15]), tonumber(ARGV[16]), tonumber(ARGV[17])
local mine, others, slots = 'node.' .. node, 0, 0
for field, value in pairs(known) do
  if string.sub(field, 1, 5) == 'node.' and field ~= mine then
    local held, till = string.match(value, '^(%d+):(%d+)$')
    if not held or tonumber(till) <= now then
      redis.call('HDEL', KEYS[1], field)
    else
      others = others + tonumber(held)
      live = math.max(live, tonumber(till) - now)
    end
  end
end

local bucket = function(name, at, lendTo, held)
  local limit = tonumber(ARGV[at])
  if limit < 0 then return 0, 0, 0 end
  local full = limit * 60000
  local bounded = function(parts) return math.max(-full, math.min(full, parts)) end
  local parts, since = tonumber(known[name]), tonumber(known[name .. 'At'])
  if parts and since then
    parts = bounded(parts + math.max(0, now - since) * limit)
  else
    parts = full
  end
  local charge = tonumber(ARGV[at + 1])
  if isLost then
    local missing = tonumber(ARGV[at + 2])
    if isNew then
      set(name .. 'Lost', whole(missing))
      charge = missing * nodes
    else
      charge = missing - tonumber(known[name .. 'Lost'] or 0)
    end
  end
  parts = bounded(parts - charge * 60000)
  local holds, granted, lent = math.floor(parts / 60000), 0, 0
  local known = parts + held * 60000
  if holds > 0 and holds >= tonumber(ARGV[at + 4]) then
    granted = math.min(tonumber(ARGV[at + 3]), holds)
  elseif lendTo > 0 and known < 0 and others == 0 and running == 0 then
    local room = known + full
    if room >= math.min(lendTo, limit / 2) * 60000 then
      lent = 1
      granted = math.max(0, math.min(lendTo, math.floor(room / 60000)) - held)
    end
  end
  parts = parts - granted * 60000
  set(name, whole(parts))
  set(name .. 'At', whole(now))
  if limit > 0 then live = math.max(live, math.ceil((full - parts) / limit)) end
  return granted, parts, lent
end
local requests, requestParts = bucket('requests', 5, 0, 0)
local tokens, tokenParts, lent = bucket('tokens', 10, tonumber(ARGV[19]), tonumber(ARGV[20]))

if limit >= 0 then
  slots = math.min(wanted, math.max(running, limit - others))
elseif tokens > 0 or lent > 0 then
  slots = wanted
else
  slots = math.min(wanted, running)
end
if slots > 0 then
  set(mine, whole(slots) .. ':' .. whole(now + lease))
  live = math.max(live, lease)
elseif known[mine] then
  redis.call('HDEL', KEYS[1], mine)
end
if #changes > 0 then redis.call('HSET', KEYS[1], unpack(changes)) end
redis.call('PEXPIRE', KEYS[1], whole(live + 60000))
return {birth, requests, whole(requestParts), tokens, whole(tokenParts), slots, lent}`,
}

export function toKeyArguments(demand: KeyDemand): readonly (string | number)[] {
  const { nodeId, nowMs, leaseMs, birth, nodes, requests, tokens, slots } = demand
  return [
    ...[nodeId, nowMs, leaseMs, birth],
    ...toBucketArguments(requests),
    ...toBucketArguments(tokens),
    ...[orNone(slots.limit), slots.wanted, slots.running, nodes],
    ...[tokens.lendTo, tokens.held],
  ]
}

function toBucketArguments({
  limit,
  charge,
  missing,
  wanted,
  atLeast,
}: BucketDemand): readonly number[] {
  return [orNone(limit), charge, missing, wanted, atLeast]
}

export function orNone(limit: number): number {
  return Number.isFinite(limit) ? limit : -1
}

export function readKeyGrant(answer: readonly unknown[]): KeyGrant {
  const { birth, numbers } = readAnswer(answer, 6)
  const [requests = 0, requestParts = 0, tokens = 0, tokenParts = 0, slots = 0, lent = 0] = numbers
  return {
    birth,
    requests: { granted: requests, parts: requestParts, isLent: false },
    tokens: { granted: tokens, parts: tokenParts, isLent: lent === 1 },
    slots,
  }
}

export function readAnswer(answer: readonly unknown[], count: number) {
  const [birth, ...rest] = answer
  const numbers = rest.map(Number)
  if (numbers.length !== count || !numbers.every(Number.isFinite))
    throw new Error('an answer that is not understood')
  return { birth: String(birth), numbers }
}
