/** A call as the log shows it, and what the log is asked for in the store's terms. Runs no query. */
import type { LogBody, LogDetailsBody, LogFilterQuery } from '../contract/logs.ts'
import type { CallRecord } from '../core/call.ts'
import type { Cost, CostPart } from '../core/cost.ts'
import type { CallFilter } from '../store/call-pages.ts'

export function toLogBody(call: CallRecord): LogBody {
  return {
    id: call.id,
    keyId: call.keyId,
    gateId: call.gateId,
    dialect: call.dialect,
    stream: call.stream,
    target: call.target,
    attempts: call.attempts,
    outcome: call.outcome,
    status: call.status,
    errorKind: call.errorKind,
    startedAt: new Date(call.startedAt).toISOString(),
    firstByteMs: call.firstByteMs,
    durationMs: call.durationMs,
    usage: call.usage,
    credential: call.credential,
    cost: toCostBody(call.cost),
    refusals: call.refusals ?? null,
    attemptDetails: call.attemptDetails?.map((attempt) => ({ ...attempt })) ?? null,
  }
}

export function toLogDetailsBody(
  call: CallRecord,
  parts: readonly CostPart[] | undefined,
): LogDetailsBody {
  const log = toLogBody(call)
  return { ...log, cost: { ...log.cost, parts: parts?.map(toPartBody) ?? null } }
}

function toPartBody({ kind, count, microUsdEach }: CostPart) {
  return { kind, count, usdPerMillion: microUsdEach, usd: (count * microUsdEach) / 1e6 }
}

export function toCostBody(cost: Cost | undefined): LogBody['cost'] {
  if (cost === undefined) return { usd: null, status: 'unknown', source: null }
  const { microUsd, status, source } = cost
  return { usd: microUsd === null ? null : microUsd / 1e6, status, source }
}

export function toFilter(query: LogFilterQuery): CallFilter {
  const { from, to, gate, key, target, status, statusClass, outcome, errorKind, stream } = query
  return {
    ...(from === undefined ? {} : { fromMs: from }),
    ...(to === undefined ? {} : { toMs: to }),
    ...(gate === undefined ? {} : { gateId: gate }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(target === undefined ? {} : { target }),
    ...(status === undefined ? {} : { status }),
    ...(statusClass === undefined ? {} : { statusClass: Number(statusClass[0]) }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(errorKind === undefined ? {} : { errorKind }),
    ...(stream === undefined ? {} : { stream }),
  }
}
