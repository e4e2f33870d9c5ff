import type { ReactNode } from 'react'

export function Facts({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-x-8 gap-y-4 p-5 text-sm sm:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
      {children}
    </dl>
  )
}

export function Fact({ term, children }: { readonly term: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 wrap-anywhere">
      <dt className="text-xs text-ink-faint">{term}</dt>
      <dd className="mt-1 text-ink tabular-nums">{children}</dd>
    </div>
  )
}
