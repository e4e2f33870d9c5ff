import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { ChangedMeanwhile } from '../api/change-same.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'

export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  readonly icon?: ReactNode
  readonly title: string
  readonly children: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-14 text-center">
      {icon !== undefined && (
        <div
          aria-hidden
          className="rounded-xl border border-line bg-sunken p-3 text-ink-soft [&>svg]:size-5"
        >
          {icon}
        </div>
      )}
      <h3 className="text-sm font-semibold text-ink">{title}</h3>
      <p className="max-w-md text-sm text-ink-soft">{children}</p>
      {action !== undefined && <div className="mt-2">{action}</div>}
    </div>
  )
}

export function ErrorState({
  error,
  message = describeError(error),
  retry,
}: {
  readonly error: unknown
  /** For pages that know more than the error says. */
  readonly message?: string
  readonly retry?: () => void
}) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div role="alert" className="flex flex-col items-center gap-3 px-6 py-14 text-center">
      <CircleAlert aria-hidden className="size-6 text-danger" />
      <p className="max-w-md text-sm text-ink">{message}</p>
      {requestId !== undefined && (
        <p className="text-xs text-ink-faint">
          Request <code className="font-mono">{requestId}</code>
        </p>
      )}
      {retry !== undefined && (
        <Button size="small" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function describeError(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 403) return `You may not do this: ${error.message}`
    return error.message
  }
  return 'Something went wrong on this page. Reloading it may help.'
}

export function ProblemNote({
  error,
  className,
}: {
  readonly error: unknown
  readonly className?: string
}) {
  // A concurrent change offers a choice, shown in its own note.
  if (error === null || error === undefined || error instanceof ChangedMeanwhile) return null
  return (
    <p
      role="alert"
      className={classNames(
        'rounded-lg bg-danger-soft px-3 py-2 text-[13px] text-danger',
        className,
      )}
    >
      {describeError(error)}
    </p>
  )
}

/**
 * A grey bar in place of text that is loading; set its height and width. Presses pass through,
 * because browsers forget a press on an element that disappears before release.
 */
export function Skeleton({ className }: { readonly className?: string }) {
  return (
    <div
      aria-hidden
      className={classNames('pointer-events-none animate-pulse rounded-md bg-sunken', className)}
    />
  )
}

export function RowSkeletons({ count = 4 }: { readonly count?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col divide-y divide-line">
      {Array.from({ length: count }, (_, row) => row).map((row) => (
        <div key={row} className="flex items-center gap-6 px-5 py-4">
          <Skeleton className="h-4 w-1/4" />
          <Skeleton className="h-4 w-1/3" />
          <Skeleton className="ml-auto h-4 w-16" />
        </div>
      ))}
    </div>
  )
}
