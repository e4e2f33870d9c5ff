import type { RowOf } from '../../api/ask.ts'
import type { OwnedModel } from './draft.ts'

type Health = Pick<RowOf<'GET /v1/targets/health'>, 'lastAnsweredAt' | 'lastFailure'>

export interface LastCall {
  readonly at: string
  /** Null when the call was answered. */
  readonly failure: Health['lastFailure']
}

/** @returns the last call if it is newer than the probe; otherwise undefined */
export function callNewerThan(
  probe: OwnedModel['probe'],
  health: Health | undefined,
): LastCall | undefined {
  const call = health && lastCallOf(health)
  if (call === undefined) return undefined
  return probe === null || Date.parse(call.at) > Date.parse(probe.checkedAt) ? call : undefined
}

function lastCallOf({ lastAnsweredAt, lastFailure }: Health): LastCall | undefined {
  const answered = lastAnsweredAt === null ? undefined : { at: lastAnsweredAt, failure: null }
  const failed = lastFailure === null ? undefined : { at: lastFailure.at, failure: lastFailure }
  if (answered === undefined || failed === undefined) return answered ?? failed
  return Date.parse(failed.at) > Date.parse(answered.at) ? failed : answered
}
