/**
 * Reports that a gate depends on its fallback: the share of its calls that another target than the
 * first answered, and why. Shows nothing when the gateway does not list the gate.
 */
import { useQuery } from '@tanstack/react-query'
import { Split } from 'lucide-react'
import type { RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { formatShare, formatWhole } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import { classNames } from '../../ui/class-names.ts'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'

export type GateFallback = RowOf<'GET /v1/targets/fallbacks'>

const AGAIN_AFTER_MS = 15_000
const MOSTLY = 0.5

export function useGateFallbacks(): ReadonlyMap<string, GateFallback> {
  const answer = useQuery({
    ...operationQuery('GET /v1/targets/fallbacks'),
    refetchInterval: AGAIN_AFTER_MS,
    staleTime: 0,
  })
  return new Map(answer.data?.data.map((fallback) => [fallback.gate, fallback]))
}

export function FallbackBadge({ fallback }: { readonly fallback: GateFallback | undefined }) {
  if (fallback === undefined) return null
  const { share, message } = fallback
  return (
    <div className="mt-1.5 max-w-72">
      <Badge tone={share >= MOSTLY ? 'danger' : 'warn'} hasDot>
        {formatShare(share)} on fallback
      </Badge>
      <p className="mt-1 text-[13px] break-words text-ink-soft">{message}</p>
    </div>
  )
}

export function FallbackNotice({ gateId }: { readonly gateId: string }) {
  const fallback = useGateFallbacks().get(gateId)
  if (fallback === undefined) return null
  const { share, message, fallbackCalls, answeredCalls, lastFailure, target } = fallback
  const isMostly = share >= MOSTLY
  return (
    <section
      aria-label="Calls on a fallback"
      className={classNames(
        'flex gap-3 rounded-xl border px-5 py-4 text-[13px]',
        isMostly ? 'border-danger bg-danger-soft' : 'border-warn bg-warn-soft',
      )}
    >
      <Split
        aria-hidden
        className={classNames('mt-0.5 size-4 shrink-0', isMostly ? 'text-danger' : 'text-warn')}
      />
      <p className="min-w-0 break-words text-ink">
        <span className={classNames('font-medium', isMostly ? 'text-danger' : 'text-warn')}>
          {formatShare(share)} on fallback:
        </span>{' '}
        other targets than <code className="font-mono">{target}</code> answered{' '}
        {formatWhole(fallbackCalls)} of the last {formatWhole(answeredCalls)}{' '}
        {answeredCalls === 1 ? 'call' : 'calls'}. {message}
        {lastFailure !== null && (
          <>
            {' '}
            Its last failure was <Moment at={lastFailure.at} />;{' '}
            <PageLink to="/logs" search={{ gate: gateId }}>
              see the calls
            </PageLink>
            .
          </>
        )}
      </p>
    </section>
  )
}
