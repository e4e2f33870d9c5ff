import { type ReactNode, useEffect } from 'react'
import { announce } from './announcer.tsx'

export function Page({
  title,
  note,
  actions,
  children,
}: {
  readonly title: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  useDocumentTitle(title)
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6 px-4 py-6 sm:px-8 sm:py-8">
      <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 wrap-anywhere">
          <h1 className="text-xl font-semibold tracking-tight text-ink">{title}</h1>
          {note !== undefined && <p className="mt-1 max-w-2xl text-sm text-ink-soft">{note}</p>}
        </div>
        {actions !== undefined && (
          <div className="flex flex-wrap items-center gap-2 max-sm:relative">{actions}</div>
        )}
      </header>
      {children}
    </div>
  )
}

export function useDocumentTitle(title: string, spoken = title): void {
  useEffect(() => {
    document.title = `${title} · Gatehouse`
    announce(spoken)
  }, [title, spoken])
}
