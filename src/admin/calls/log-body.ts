/**
 * Turns a call into its answer, with the parts of its cost, and the log's filters into the store's
 * terms. Runs no query.
 */
import type { LogDetailsBody, LogFilterQuery } from '../../contract/logs.ts'
import type { CallRecord } from '../../core/call.ts'
import type { CostPart } from '../../core/cost.ts'
import { usdOfPart } from '../../core/money.ts'
import type { CallFilter } from '../../store/calls/call-pages.ts'
import { toLogBody } from './log-body.generated.ts'

export function toLogDetailsBody(
  call: CallRecord,
  parts: readonly CostPart[] | undefined,
  keyName: string | null,
): LogDetailsBody {
  const log = toLogBody(call, keyName)
  return { ...log, cost: { ...log.cost, parts: parts?.map(toPartBody) ?? null } }
}

function toPartBody({ kind, count, usdPerMillion }: CostPart) {
  return { kind, count, usdPerMillion, usd: usdOfPart({ count, usdPerMillion }) }
}

export function toFilter(query: LogFilterQuery): CallFilter {
  const { from, to, gate, key, target, status, statusClass, outcome, errorKind, stream } = query
  const { refused, durationFromMs, durationToMs, firstByteFromMs, firstByteToMs } = query
  return {
    ...(from === undefined ? {} : { fromMs: from }),
    ...(to === undefined ? {} : { toMs: to }),
    ...(gate === undefined ? {} : { gateId: gate }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(target === undefined ? {} : { target }),
    ...(query.targetPart === undefined ? {} : { targetPart: query.targetPart }),
    ...(status === undefined ? {} : { status }),
    ...(statusClass === undefined ? {} : { statusClass: Number(statusClass[0]) }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(errorKind === undefined ? {} : { errorKind }),
    ...(refused === undefined ? {} : { refused }),
    ...(stream === undefined ? {} : { stream }),
    ...(durationFromMs === undefined ? {} : { durationFromMs }),
    ...(durationToMs === undefined ? {} : { durationToMs }),
    ...(firstByteFromMs === undefined ? {} : { firstByteFromMs }),
    ...(firstByteToMs === undefined ? {} : { firstByteToMs }),
  }
}
