/** The gate's fuse: which sessions and users are stopped by themselves. */
import { Fold } from '../../ui/fold.tsx'
import { FuseFields } from '../../ui/fuse-fields.tsx'
import type { GateDraft } from './gate-draft.ts'
import type { GateForm } from './use-gate-form.ts'

export function FuseFold({ form: { draft, set, problem } }: { readonly form: GateForm }) {
  return (
    <Fold title="Fuse" summary={summarise(draft.fuse)} isWrong={problem('fuse') !== undefined}>
      <p className="text-[13px] text-ink-soft">
        A session or a user beyond one of these figures is stopped on this gate until the stop is
        lifted on this page. Running calls end as usual. Each node of the gateway counts on its own.
      </p>
      <FuseFields
        draft={draft.fuse}
        problem={problem}
        onChange={(changed) => set('fuse', changed)}
      />
    </Fold>
  )
}

function summarise({ usd, calls }: GateDraft['fuse']): string {
  const limits = [
    usd.trim() === '' ? '' : `$${usd} an hour`,
    calls.trim() === '' ? '' : `${calls} ${calls.trim() === '1' ? 'call' : 'calls'} a minute`,
  ].filter((text) => text !== '')
  return limits.join(' · ') || 'Stops a session or a user that spends too much or calls too often'
}
