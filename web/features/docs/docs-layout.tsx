import { Outlet, useLocation } from '@tanstack/react-router'
import { ArrowUpRight } from 'lucide-react'
import { Page, useDocumentTitle } from '../../ui/page.tsx'
import { type SectionTab, SectionTabs } from '../../ui/section-tabs.tsx'

const TABS: readonly SectionTab[] = [
  { to: '/docs', label: 'Quick start', isExact: true },
  { to: '/docs/errors', label: 'Errors' },
  { to: '/docs/conformance', label: 'Conformance' },
]

export function DocsLayout() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const current = TABS.find(({ to }) => path.endsWith(to))
  useDocumentTitle(current === undefined ? 'Docs' : `${current.label} · Docs`)
  return (
    <Page
      title="Docs"
      actions={
        <a
          href="/docs"
          target="_blank"
          rel="noreferrer"
          className="inline-flex h-9 items-center gap-1.5 rounded-lg border border-line-strong bg-surface px-3.5 text-sm font-medium text-ink hover:bg-sunken"
        >
          API reference
          <span className="sr-only"> (opens in a new tab)</span>
          <ArrowUpRight aria-hidden className="size-4 text-ink-faint" />
        </a>
      }
    >
      <SectionTabs label="Docs" tabs={TABS} />
      <div className="flex flex-col gap-6">
        <Outlet />
      </div>
    </Page>
  )
}
