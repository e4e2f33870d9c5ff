/** What one small request with a new credential has shown. What was sent is saved either way, and this says so. */
import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { AnswerOf } from '../../api/ask.ts'
import { formatDuration } from '../../format/figures.ts'
import { classNames } from '../../ui/class-names.ts'
import { Moment } from '../../ui/moment.tsx'

export type Probe = NonNullable<AnswerOf<'PATCH /v1/owned-models/{slug}'>['probe']>

export function ProbeNote({ probe }: { readonly probe: Probe }) {
  const isReachable = probe.status === 'reachable'
  const Icon = isReachable ? CircleCheck : TriangleAlert
  return (
    <div
      role={isReachable ? 'status' : 'alert'}
      className={classNames(
        'flex gap-3 rounded-lg px-4 py-3 text-[13px]',
        isReachable ? 'bg-ok-soft' : 'bg-warn-soft',
      )}
    >
      <Icon
        aria-hidden
        className={classNames('mt-0.5 size-4 shrink-0', isReachable ? 'text-ok' : 'text-warn')}
      />
      <div className="min-w-0">
        <p className={classNames('font-semibold', isReachable ? 'text-ok' : 'text-warn')}>
          {isReachable ? 'Saved, and the model answers' : 'Saved, but the model did not answer'}
        </p>
        {probe.detail !== undefined && <p className="mt-0.5 text-ink">{probe.detail}</p>}
        <dl className="mt-1.5 grid grid-cols-2 gap-x-5 gap-y-0.5 text-ink-soft tabular-nums">
          <Fact term="Result" value={isReachable ? 'reachable' : 'unreachable'} />
          <Fact
            term="HTTP status"
            value={probe.httpStatus === undefined ? 'no answer' : String(probe.httpStatus)}
          />
          <Fact term="Took" value={formatDuration(probe.latencyMs)} />
          <div className="flex gap-1.5">
            <dt>Tried</dt>
            <dd className="text-ink">
              <Moment at={probe.checkedAt} />
            </dd>
          </div>
        </dl>
      </div>
    </div>
  )
}

function Fact({ term, value }: { readonly term: string; readonly value: string }) {
  return (
    <div className="flex gap-1.5">
      <dt>{term}</dt>
      <dd className="text-ink">{value}</dd>
    </div>
  )
}
