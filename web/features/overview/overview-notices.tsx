/** Notices that most accounts do not need, in a file of their own. */
import type { RowOf } from '../../api/ask.ts'
import type { Exhausted } from '../../format/exhausted.ts'
import { LimitNoticeLine } from '../../ui/limit-notices.tsx'
import { EndingTokens } from './ending-tokens.tsx'
import { FuseNotice, type StopCount } from './fuse-notice.tsx'

export function OverviewNotices({
  exhausted,
  stopped,
  ending,
}: {
  readonly exhausted: readonly Exhausted[]
  readonly stopped: readonly StopCount[]
  readonly ending: readonly RowOf<'GET /v1/access-tokens'>[]
}) {
  return (
    <>
      <LimitNoticeLine exhausted={exhausted} />
      <FuseNotice stopped={stopped} />
      <EndingTokens tokens={ending} />
    </>
  )
}
