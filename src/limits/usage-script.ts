/**
 * The script for a quota's or budget's usage in a period, and its arguments and answer. Used
 * amounts only grow, so a repeated report is harmless; additions are numbered per node and applied
 * once.
 */
import type { SharedScript } from '../cluster/shared-store.ts'
import { orNone, READ_HASH, readAnswer } from './key-script.ts'
import type { Amounts, UsedSoFar } from './usage-counter.ts'

export interface UsageDemand {
  readonly nodeId: string
  readonly nowMs: number
  readonly leaseMs: number
  /** Infinite for a budget without a period. */
  readonly endsAtMs: number
  readonly birth: string
  /**
   * Number of the addition: greater than the last number, or equal to repeat an addition that may
   * not have arrived.
   */
  readonly sequence: number
  readonly isRepeated: boolean
  readonly added: UsedSoFar
  /** The minimum usage that this node knows of, from before or from the ledger. */
  readonly floor: UsedSoFar
  readonly limit: Amounts
  /** At most the limit. Below the ceiling, nothing beyond it is granted in advance. */
  readonly ceiling: Amounts
  readonly reserved: Amounts
  readonly needed: Amounts
  readonly spare: Amounts
}

export interface UsageGrant {
  readonly birth: string
  readonly used: UsedSoFar
  readonly others: Amounts
  /** Reserved by this node, including what this node may reserve without asking. */
  readonly allowed: Amounts
}

const HOUR_MS = 3_600_000
/**
 * How long sums stay after their period and their last use: a day for nodes whose clocks are behind
 * by up to a day, and an hour for their calls that end late. Usage that is reported later is not
 * lost: the node then reports its whole sum, and the ledger has all sums.
 */
const KEPT_AFTER_MS = 25 * HOUR_MS
const KEPT_ENDLESS_MS = 400 * 24 * HOUR_MS

export const USAGE_SCRIPT: SharedScript = {
  name: 'gatehouseusage',
  lua: `
local node, now, lease, endsAt = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
${READ_HASH}
local isLost = ARGV[5] ~= '' and ARGV[5] ~= birth
local sequence, isRepeated = tonumber(ARGV[6]), ARGV[7] == '1'
local isKnown = tonumber(known['sequence.' .. node] or 0) >= sequence
local used = {}
for index, name in ipairs({'tokens', 'nanoUsd', 'unpriced'}) do
  local added, floor = tonumber(ARGV[7 + index]), tonumber(ARGV[10 + index])
  local sum = math.max(tonumber(known[name] or 0), floor)
  if isLost and isRepeated then
    sum = math.max(sum, floor + added)
  elseif not isKnown then
    sum = sum + added
  end
  used[index] = sum
  set(name, whole(sum))
end
set('sequence.' .. node, whole(sequence))

local others = {0, 0}
for field, value in pairs(known) do
  if string.sub(field, 1, 5) == 'node.' and field ~= 'node.' .. node then
    local tokens, nanoUsd, till = string.match(value, '^(%d+):(%d+):(%d+)$')
    if not tokens or tonumber(till) <= now then
      redis.call('HDEL', KEYS[1], field)
    else
      others[1] = others[1] + tonumber(tokens)
      others[2] = others[2] + tonumber(nanoUsd)
    end
  end
end
local reserved, room = {}, {}
local isAdmitted = true
for index = 1, 2 do
  local limit = tonumber(ARGV[13 + index])
  reserved[index] = tonumber(ARGV[15 + index])
  if limit < 0 then
    room[index] = -1
  else
    room[index] = limit - used[index] - others[index] - reserved[index]
    isAdmitted = isAdmitted and room[index] > 0
  end
end
if isAdmitted then
  for index = 1, 2 do
    local needed = tonumber(ARGV[17 + index])
    local spare = 0
    if room[index] >= 0 then
      local ceiling, left = tonumber(ARGV[21 + index]), room[index]
      if used[index] < ceiling then
        left = ceiling - used[index] - others[index] - reserved[index]
      end
      spare = math.max(0, math.min(tonumber(ARGV[19 + index]), math.floor((left - needed) / 8)))
    end
    reserved[index] = reserved[index] + needed + spare
  end
end
if reserved[1] > 0 or reserved[2] > 0 then
  set('node.' .. node, whole(reserved[1]) .. ':' .. whole(reserved[2]) .. ':' .. whole(now + lease))
elseif known['node.' .. node] then
  redis.call('HDEL', KEYS[1], 'node.' .. node)
end
redis.call('HSET', KEYS[1], unpack(changes))
local keep = ${KEPT_ENDLESS_MS}
if endsAt >= 0 then keep = math.max(0, endsAt - now) + ${KEPT_AFTER_MS} end
redis.call('PEXPIRE', KEYS[1], whole(keep))
return {birth, whole(used[1]), whole(used[2]), whole(used[3]), whole(others[1]), whole(others[2]),
  whole(reserved[1]), whole(reserved[2])}`,
}

export function toUsageArguments(demand: UsageDemand): readonly (string | number)[] {
  const { added, floor, limit, ceiling } = demand
  return [
    ...[demand.nodeId, demand.nowMs, demand.leaseMs, orNone(demand.endsAtMs), demand.birth],
    ...[demand.sequence, demand.isRepeated ? 1 : 0],
    ...[added.tokens, added.nanoUsd, added.unpricedCalls],
    ...[floor.tokens, floor.nanoUsd, floor.unpricedCalls],
    ...[orNone(limit.tokens), orNone(limit.nanoUsd)],
    ...[demand.reserved, demand.needed, demand.spare].flatMap(({ tokens, nanoUsd }) => [
      tokens,
      nanoUsd,
    ]),
    ...[orNone(ceiling.tokens), orNone(ceiling.nanoUsd)],
  ]
}

export function readUsageGrant(answer: readonly unknown[]): UsageGrant {
  const { birth, numbers } = readAnswer(answer, 7)
  const [tokens = 0, nanoUsd = 0, unpricedCalls = 0, ...pairs] = numbers
  const [otherTokens = 0, otherNanoUsd = 0, allowedTokens = 0, allowedNanoUsd = 0] = pairs
  return {
    birth,
    used: { tokens, nanoUsd, unpricedCalls },
    others: { tokens: otherTokens, nanoUsd: otherNanoUsd },
    allowed: { tokens: allowedTokens, nanoUsd: allowedNanoUsd },
  }
}
