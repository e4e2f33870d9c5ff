/** A call as the answers of the interface and its CSV export tell it. Made from src/core/call-columns.ts by `make fmt`; edit the list. */
import type { CsvCell } from '../../contract/csv.ts'
import type { LogBody } from '../../contract/logs.ts'
import type { CallRecord } from '../../core/call.ts'
import { toAttemptsBody, toCostBody } from './body-parts.ts'

export function toLogBody(call: CallRecord, keyName: string | null): LogBody {
  return {
    id: call.id,
    keyId: call.keyId,
    keyName,
    gateId: call.gateId,
    sentGateId: call.sentGateId ?? null,
    dialect: call.dialect,
    stream: call.stream,
    target: call.target,
    attempts: call.attempts,
    outcome: call.outcome,
    status: call.status,
    errorKind: call.errorKind,
    refusalCode: call.refusalCode ?? null,
    refusedBy: call.refusedBy ?? null,
    startedAt: new Date(call.startedAt).toISOString(),
    firstByteMs: call.firstByteMs,
    durationMs: call.durationMs,
    usage: call.usage,
    credential: call.credential,
    cost: toCostBody(call.cost),
    refusals: call.refusals ?? null,
    attemptDetails: toAttemptsBody(call.attemptDetails),
  }
}

export const EXPORT_COLUMNS: readonly (readonly [name: string, read: (log: LogBody) => CsvCell])[] = [
  ['id', (log) => log.id],
  ['startedAt', (log) => log.startedAt],
  ['gateId', (log) => log.gateId],
  ['keyId', (log) => log.keyId],
  ['dialect', (log) => log.dialect],
  ['stream', (log) => log.stream],
  ['target', (log) => log.target],
  ['attempts', (log) => log.attempts],
  ['outcome', (log) => log.outcome],
  ['status', (log) => log.status],
  ['errorKind', (log) => log.errorKind],
  ['firstByteMs', (log) => log.firstByteMs],
  ['durationMs', (log) => log.durationMs],
  ['inputTokens', (log) => log.usage?.inputTokens],
  ['outputTokens', (log) => log.usage?.outputTokens],
  ['cachedInputTokens', (log) => log.usage?.cachedInputTokens],
  ['cacheWriteTokens', (log) => log.usage?.cacheWriteTokens],
  ['reasoningTokens', (log) => log.usage?.reasoningTokens],
  ['credential', (log) => log.credential],
  ['costUsd', (log) => log.cost.usd?.toFixed(9)],
  ['costStatus', (log) => log.cost.status],
  ['priceSource', (log) => log.cost.source],
  ['refusals', (log) => log.refusals],
  ['sentGateId', (log) => log.sentGateId],
  ['refusalCode', (log) => log.refusalCode],
  ['refusedBy', (log) => log.refusedBy],
  ['keyName', (log) => log.keyName],
]
