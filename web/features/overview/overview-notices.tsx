/** Notices that most accounts do not need, in a file of their own. */
import type { RowOf } from '../../api/ask.ts'
import type { Exhausted } from '../../format/exhausted.ts'
import { LimitNoticeLine } from '../../ui/limit-notices.tsx'
import { EndingTokens } from './ending-tokens.tsx'
import { type DefaultBudget, useExhaustedHeads } from './exhausted-heads.ts'
import { FuseNotice, type StopCount } from './fuse-notice.tsx'

export function OverviewNotices({
  exhausted,
  defaults,
  stopped,
  ending,
  isLive,
}: {
  readonly exhausted: readonly Exhausted[]
  /** Budgets for each user or key. */
  readonly defaults: readonly DefaultBudget[]
  readonly stopped: readonly StopCount[]
  readonly ending: readonly RowOf<'GET /v1/access-tokens'>[]
  readonly isLive: boolean
}) {
  const heads = useExhaustedHeads(defaults, isLive)
  return (
    <>
      <LimitNoticeLine exhausted={exhausted} heads={heads} />
      <FuseNotice stopped={stopped} />
      <EndingTokens tokens={ending} />
    </>
  )
}
