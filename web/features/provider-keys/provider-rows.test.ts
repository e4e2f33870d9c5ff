import { expect, test } from 'bun:test'
import { matchesSearch, orderProviders, type Provider, toProviderRows } from './provider-rows.ts'

const provider = (id: string, configured: boolean): Provider => ({
  id,
  name: id.toUpperCase(),
  docs: null,
  dialects: ['openai-chat'],
  configured,
  credential: configured ? 'platform' : null,
  hasAddress: true,
})
const key = {
  provider: 'c',
  maskedKey: '…',
  active: true,
  createdAt: '2026-11-01T00:00:00Z',
  updatedAt: '2026-11-01T00:00:00Z',
  lastUsedAt: null,
}
const rows = toProviderRows(
  [provider('b', false), provider('c', false), provider('a', true)],
  [key],
)

test('each provider has its own key, and no other provider’s', () => {
  expect(rows.map(({ ownKey }) => ownKey?.provider)).toEqual([undefined, 'c', undefined])
})

test('providers with an own key come first, then those of the platform', () => {
  expect(orderProviders(rows)).toEqual(['c', 'a', 'b'])
})

test('a provider is found by its name and by its dialects', () => {
  expect(rows.filter((row) => matchesSearch(row, ' B ')).map((row) => row.provider.id)).toEqual([
    'b',
  ])
  expect(rows.filter((row) => matchesSearch(row, 'chat compl'))).toHaveLength(3)
  expect(rows.filter((row) => matchesSearch(row, 'nobody'))).toEqual([])
})
