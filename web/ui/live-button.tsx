/** Says whether a page renews itself, and lets its reader stop that, or renew it at once. */
import { RefreshCw } from 'lucide-react'
import { Button, IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import type { Live } from './use-live.ts'

export function LiveButton({
  live,
  isOngoing,
  isFetching,
  onRefresh,
}: {
  readonly live: Live
  readonly isOngoing: boolean
  readonly isFetching: boolean
  readonly onRefresh: () => void
}) {
  return (
    <div className="flex items-center gap-1">
      {isOngoing && (
        <Button
          look="quiet"
          size="small"
          aria-pressed={live.isLive}
          title={
            live.isLive
              ? 'Renewed every 10 seconds. Press to pause.'
              : 'Press to renew it every 10 seconds.'
          }
          onClick={live.toggle}
        >
          <span
            aria-hidden
            className={classNames(
              'size-1.5 rounded-full',
              live.isLive ? 'bg-ok' : 'bg-ink-faint',
              // Begins anew each time that figures have come.
              live.isLive && !isFetching && 'animate-flash',
            )}
          />
          {live.isLive ? 'Live' : 'Paused'}
        </Button>
      )}
      <IconButton size="small" label="Refresh" onClick={onRefresh}>
        <RefreshCw aria-hidden className={classNames('size-3.5', isFetching && 'animate-spin')} />
      </IconButton>
    </div>
  )
}
