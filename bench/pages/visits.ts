/**
 * Which pages of the dashboard are visited, and how each is asked for what a large account holds.
 */
import { DAYS } from './fill-store.ts'

const DAY_MS = 86_400_000

export interface Page {
  readonly name: string
  /** Behind /dashboard. */
  readonly path: string
}

interface Known {
  readonly keyId: string
  readonly callId: string
}

export function pagesOf({ keyId, callId }: Known): readonly Page[] {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString()
  const days = (first: number) =>
    `range=custom&from=${day(first).slice(0, 10)}&to=${day(0).slice(0, 10)}`
  const log = {
    '': '',
    ', the last hour': '?range=1h',
    ', a far day': `?from=${day(DAYS - 10)}&to=${day(DAYS - 11)}`,
    ', a gate': '?gate=gate-40',
    ', a key': `?key=${keyId}`,
    ', a target': '?target=openai/gpt-4o-0',
    ', failed': '?outcome=failed',
    ', cancelled': '?outcome=cancelled',
    ', a status': '?status=504',
    ', a status that none has': '?status=418',
    ', 5xx': '?status=5xx',
    ', an error': '?errorKind=rate_limited',
    ', streams': '?stream=true',
    ', slow calls': '?durationFromMs=9070',
    ', several at once': `?gate=gate-40&outcome=failed&status=504&range=30d`,
    ', a call': `/${callId}`,
  }
  const analytics = {
    '24 h': 'range=24h',
    '7 d': 'range=7d',
    '30 d': 'range=30d',
    '90 d': days(90),
    '400 d': days(400),
    '30 d, by target': 'range=30d&by=target',
    '30 d, by key': 'range=30d&by=key',
    '30 d, by status': 'range=30d&by=status',
    '30 d, by credential': 'range=30d&by=credential',
    '90 d, by key': `${days(90)}&by=key`,
    '400 d, by key': `${days(400)}&by=key`,
    '30 d, a gate': 'range=30d&gate=gate-7&by=target',
    '30 d, a key': `range=30d&key=${keyId}`,
    '30 d, a target': 'range=30d&target=openai/gpt-4o-0',
  }
  return [
    { name: 'Overview, 24 h', path: '/?range=24h' },
    { name: 'Overview, 7 d', path: '/?range=7d' },
    { name: 'Overview, 30 d', path: '/?range=30d' },
    { name: 'Overview, 90 d', path: `/?${days(90)}` },
    { name: 'Gates', path: '/gates' },
    { name: 'Gate', path: '/gates/gate-1' },
    { name: 'Gate, test', path: '/gates/gate-1?tab=test' },
    { name: 'Gate, snippets', path: '/gates/gate-1?tab=snippets' },
    { name: 'Gate, new', path: '/gates/new' },
    { name: 'Playground', path: '/playground' },
    { name: 'API Keys', path: '/keys' },
    { name: 'Provider Keys', path: '/provider-keys' },
    { name: 'Owned Models', path: '/owned-models' },
    { name: 'Owned Model, new', path: '/owned-models/new' },
    ...Object.entries(log).map(([of, search]) => ({ name: `Logs${of}`, path: `/logs${search}` })),
    ...Object.entries(analytics).map(([of, search]) => ({
      name: `Analytics, ${of}`,
      path: `/analytics?${search}`,
    })),
    { name: 'Settings', path: '/settings' },
    ...['members', 'limits', 'budgets', 'webhooks', 'tags', 'audit-log', 'security'].map(
      (section) => ({ name: `Settings, ${section}`, path: `/settings/${section}` }),
    ),
    { name: 'Docs', path: '/docs' },
    { name: 'Docs, errors', path: '/docs/errors' },
    { name: 'Docs, conformance', path: '/docs/conformance' },
  ]
}
