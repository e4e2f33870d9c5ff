/** Names the gates and budgets whose fuses stopped sessions or users. */
import { OctagonX } from 'lucide-react'
import type { AnswerOf } from '../../api/ask.ts'
import { PageLink } from '../../ui/links.tsx'

const NAMED = 3

export type StopCount = AnswerOf<'GET /v1/fuse-stops'>['data'][number]

export function FuseNotice({ stopped }: { readonly stopped: readonly StopCount[] }) {
  if (stopped.length === 0) return null
  const rest = stopped.length - NAMED
  return (
    <section
      aria-label="Stopped by fuses"
      className="flex items-center gap-3 rounded-xl border border-danger bg-danger-soft px-5 py-2.5 text-[13px] text-ink"
    >
      <OctagonX aria-hidden className="size-4 shrink-0 text-danger" />
      <span className="min-w-0 wrap-anywhere">
        <span className="font-medium text-danger">Stopped by fuses:</span>{' '}
        {stopped.slice(0, NAMED).map(({ gateId, budgetId, name, ...counts }, index) => (
          <span key={gateId ?? budgetId}>
            {index > 0 && ', '}
            {describeCounts(counts)} by {gateId === null ? 'the budget' : 'the gate'}{' '}
            <PageLink to={gateId === null ? '/settings/budgets' : `/gates/${gateId}`}>
              <bdi>{name}</bdi>
            </PageLink>
          </span>
        ))}
        {rest > 0 && ` and more by ${rest} others`}. Their calls are refused until you lift the stop
        there.
      </span>
    </section>
  )
}

function describeCounts({ sessions, users }: Pick<StopCount, 'sessions' | 'users'>): string {
  return [
    ...(sessions === 0 ? [] : [`${sessions} ${sessions === 1 ? 'session' : 'sessions'}`]),
    ...(users === 0 ? [] : [`${users} ${users === 1 ? 'user' : 'users'}`]),
  ].join(' and ')
}
