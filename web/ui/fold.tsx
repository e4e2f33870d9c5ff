import { ChevronRight } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'

export function Fold({
  title,
  summary,
  isWrong,
  children,
}: {
  readonly title: string
  readonly summary: string
  /** Whether the part contains a problem and therefore opens. */
  readonly isWrong: boolean
  readonly children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (isWrong) setOpen(true)
  }, [isWrong])
  return (
    <details
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="group border-t border-line first:border-t-0"
    >
      <summary className="flex list-none items-center gap-2 px-5 py-3.5 hover:bg-sunken/60 focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-ink-faint transition-transform group-open:rotate-90"
        />
        <span className="text-sm font-semibold text-ink">{title}</span>
        <span className="min-w-0 text-[13px] text-ink-faint">{summary}</span>
      </summary>
      <div className="flex flex-col gap-4 px-5 pt-1 pb-5">{children}</div>
    </details>
  )
}
