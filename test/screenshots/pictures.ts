/** Which pages are photographed, and what is done on them first. */
import type { Page } from 'playwright-core'

export interface Picture {
  readonly name: string
  /** Behind /dashboard. */
  readonly path: string
  readonly isOnPhone?: boolean
  readonly prepare?: (page: Page) => Promise<void>
}

export const PICTURES: readonly Picture[] = [
  { name: 'overview', path: '/?range=30d', isOnPhone: true },
  {
    name: 'playground',
    path: '/playground?gate=resilient',
    isOnPhone: true,
    async prepare(page) {
      await page.getByLabel('Message').fill('What does a gate do when its first target fails?')
      await page.keyboard.press('Enter')
      await page
        .getByText(/first token/i)
        .last()
        .waitFor()
    },
  },
  { name: 'gates', path: '/gates', isOnPhone: true },
  { name: 'gate', path: '/gates/assistant', isOnPhone: true },
  {
    name: 'gate-test',
    path: '/gates/resilient?tab=test',
    async prepare(page) {
      await page
        .getByRole('button', { name: /^Test|^Run/ })
        .first()
        .click()
      await page.getByText('sandbox/echo').last().waitFor()
    },
  },
  { name: 'gate-snippets', path: '/gates/assistant?tab=snippets' },
  { name: 'owned-models', path: '/owned-models' },
  { name: 'owned-model', path: '/owned-models/house-llama' },
  { name: 'keys', path: '/keys', isOnPhone: true },
  { name: 'provider-keys', path: '/provider-keys' },
  { name: 'logs', path: '/logs', isOnPhone: true },
  {
    name: 'log-details',
    path: '/logs?gate=resilient',
    async prepare(page) {
      await page
        .getByRole('row', { name: /resilient/ })
        .first()
        .click()
      await page.getByText('sandbox/500').last().waitFor()
    },
  },
  { name: 'analytics', path: '/analytics', isOnPhone: true },
  { name: 'people', path: '/people?range=30d', isOnPhone: true },
  {
    name: 'person',
    path: '/people?range=30d',
    isOnPhone: true,
    async prepare(page) {
      await page.getByRole('region', { name: 'People' }).getByRole('link').first().click()
      await page.getByRole('list', { name: 'Budgets' }).waitFor()
    },
  },
  { name: 'sessions', path: '/sessions?range=30d&order=cost', isOnPhone: true },
  {
    name: 'session',
    path: '/sessions?range=30d&order=cost',
    isOnPhone: true,
    async prepare(page) {
      await page.getByRole('region', { name: 'Sessions' }).getByRole('link').first().click()
      await page.getByRole('region', { name: 'Main agent' }).waitFor()
    },
  },
  { name: 'settings', path: '/settings' },
  { name: 'members', path: '/settings/members' },
  { name: 'limits', path: '/settings/limits' },
  { name: 'budgets', path: '/settings/budgets' },
  { name: 'webhooks', path: '/settings/webhooks' },
  { name: 'audit-log', path: '/settings/audit-log' },
  { name: 'security', path: '/settings/security' },
  { name: 'quick-start', path: '/docs' },
  { name: 'errors', path: '/docs/errors' },
  { name: 'conformance', path: '/docs/conformance' },
]
