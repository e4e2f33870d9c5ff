import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export function Card({
  children,
  className,
}: {
  readonly children: ReactNode
  readonly className?: string
}) {
  return (
    <section
      className={classNames('rounded-xl border border-line bg-surface shadow-card', className)}
    >
      {children}
    </section>
  )
}

export function CardHeader({
  title,
  note,
  children,
}: {
  readonly title: ReactNode
  readonly note?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-5 py-3.5">
      <div className={note === undefined ? 'min-w-0' : 'min-w-0 flex-1 basis-60'}>
        <h2 className="text-sm font-semibold text-ink">{title}</h2>
        {note !== undefined && <p className="mt-0.5 text-[13px] text-ink-faint">{note}</p>}
      </div>
      {children !== undefined && <div className="flex items-center gap-2">{children}</div>}
    </header>
  )
}
