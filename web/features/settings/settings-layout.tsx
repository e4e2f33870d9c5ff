import { Outlet, useLocation } from '@tanstack/react-router'
import { PLAIN_PLACES } from '../../../src/contract/plain-resources.ts'
import { Page, useDocumentTitle } from '../../ui/page.tsx'
import { type SectionTab, SectionTabs } from '../../ui/section-tabs.tsx'

const TABS: readonly SectionTab[] = [
  { to: '/settings', label: 'Account', isExact: true },
  { to: '/settings/members', label: 'Members' },
  { to: '/settings/limits', label: 'Limits' },
  { to: '/settings/budgets', label: 'Budgets' },
  { to: '/settings/webhooks', label: 'Webhooks' },
  ...PLAIN_PLACES.map(([, { place, names }]) => ({ to: `/settings/${place}`, label: names })),
  { to: '/settings/audit-log', label: 'Audit log' },
  { to: '/settings/security', label: 'Security' },
]

export function SettingsLayout() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const current = TABS.find(({ to }) => path.endsWith(to))
  useDocumentTitle(current === undefined ? 'Settings' : `${current.label} · Settings`)
  return (
    <Page title="Settings">
      <SectionTabs label="Settings" tabs={TABS} />
      <div className="flex flex-col gap-6">
        <Outlet />
      </div>
    </Page>
  )
}
