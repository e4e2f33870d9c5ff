/** The parts of a call that its answers tell in members of their own. Must not know the call. */
import { ERROR_KINDS } from '../../contract/error-kinds.ts'
import type { LogBody } from '../../contract/logs.ts'
import type { CallAttempt } from '../../core/call.ts'
import type { Cost } from '../../core/cost.ts'
import { toUsd } from '../../core/money.ts'

export function toCostBody(cost: Cost | undefined): LogBody['cost'] {
  if (cost === undefined) return { usd: null, status: 'unknown', source: null }
  const { nanoUsd, status, source } = cost
  return { usd: nanoUsd === null ? null : toUsd(nanoUsd), status, source }
}

export function toAttemptsBody(
  attempts: readonly CallAttempt[] | undefined,
): LogBody['attemptDetails'] {
  return (
    attempts?.map(({ failure, ...attempt }) => ({
      ...attempt,
      errorKind: ERROR_KINDS.find((kind) => kind === failure?.kind) ?? null,
      errorCode: failure?.code ?? null,
    })) ?? null
  )
}
