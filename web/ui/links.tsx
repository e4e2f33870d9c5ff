import { Link } from '@tanstack/react-router'
import { ArrowUpRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

const LOOK =
  'rounded-sm font-medium text-accent-strong underline decoration-accent/40 underline-offset-3 hover:decoration-current'

export function PageLink({
  to,
  search,
  label,
  className,
  children,
}: {
  /**
   * An address within the dashboard: `/gates/assistant`. A plain string, so that a feature can link
   * to another feature.
   */
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  /** For screen readers, when the text alone does not name the destination. */
  readonly label?: string
  readonly className?: string
  readonly children: ReactNode
}) {
  return (
    <Link to={to} search={search ?? {}} aria-label={label} className={classNames(LOOK, className)}>
      {children}
    </Link>
  )
}

/** Opens in a new tab, without a referrer. */
export function ExternalLink({
  href,
  children,
}: {
  readonly href: string
  readonly children: ReactNode
}) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="inline-flex items-center gap-0.5 rounded-sm text-ink-faint underline decoration-line-strong underline-offset-3 hover:text-ink"
    >
      {children}
      <span className="sr-only"> (opens in a new tab)</span>
      <ArrowUpRight aria-hidden className="size-3" />
    </a>
  )
}
