/**
 * Reports to the operator why a provider's targets rest. An upstream's own words are not logged,
 * because they may quote a prompt.
 */
import type { Clock } from '../core/clock.ts'
import { ownedSlugOf } from '../core/owned-model.ts'
import type { ReportedFailure } from '../gateway/attempt/circuit-breakers.ts'
import { UpstreamFailure } from '../net/upstream-failure.ts'
import type { Log } from '../telemetry/log.ts'

/** When a provider is down, its targets of all accounts rest, and one line is enough. */
const EVERY_MS = 60_000

export type ReportResting = (
  target: string,
  restsUntilMs: number,
  failure?: ReportedFailure,
) => void

/** Reports each provider at most once a minute, and never an account's own models. */
export function createReportResting(log: Pick<Log, 'warn'>, clock: Clock): ReportResting {
  const saidAtMs = new Map<string, number>()
  return (target, restsUntilMs, failure) => {
    if (ownedSlugOf(target) !== undefined) return
    const provider = target.slice(0, target.indexOf('/'))
    const now = clock.now()
    if (Math.abs(now - (saidAtMs.get(provider) ?? Number.NEGATIVE_INFINITY)) < EVERY_MS) return
    saidAtMs.set(provider, now)
    log.warn(
      {
        target,
        until: new Date(restsUntilMs).toISOString(),
        status: failure?.status,
        reason: reasonOf(failure?.cause),
      },
      'a target has failed repeatedly: for a while it is asked only if there is no other',
    )
  }
}

function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof UpstreamFailure)) return undefined
  const { message, cause: below } = cause
  if (!(below instanceof Error) || message.endsWith(below.message)) return message
  const code = 'code' in below && typeof below.code === 'string' ? below.code : ''
  // Some of the runtime's messages contain the code, others do not.
  const more = below.message.includes(code) ? '' : ` (${code})`
  return `${message} ${below.message}${more}`
}
