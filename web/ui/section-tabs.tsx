import { Link, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

export interface SectionTab {
  readonly to: string
  readonly label: string
  /** For the section's own address, which is a prefix of all other addresses. */
  readonly isExact?: boolean
}

export function SectionTabs({
  label,
  tabs,
}: {
  readonly label: string
  readonly tabs: readonly SectionTab[]
}) {
  const list = useRef<HTMLUListElement>(null)
  const path = useLocation({ select: ({ pathname }) => pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation scrolls its tab into view
  useEffect(() => {
    list.current
      ?.querySelector('[aria-current=page]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [path])
  return (
    <nav
      aria-label={label}
      className="-mx-4 overflow-x-auto border-b border-line px-4 sm:mx-0 sm:px-0"
    >
      <ul ref={list} className="flex gap-1">
        {tabs.map(({ to, label: name, isExact = false }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: isExact }}
              className="-mb-px block border-b-2 border-transparent px-3 py-2 text-sm font-medium whitespace-nowrap text-ink-soft hover:text-ink focus-visible:-outline-offset-2"
              activeProps={{ className: '!border-accent !text-ink', 'aria-current': 'page' }}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
