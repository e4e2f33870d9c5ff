import { expect, test } from 'bun:test'
import { readAuditSearch, toAuditQuery } from './audit-search.ts'

test('invalid parts of an address are dropped', () => {
  const said = {
    actor: 'key_1',
    action: 'gate.explode',
    resourceType: 'gate',
    from: 'yesterday',
    to: '2026-02-30x',
  }
  expect(readAuditSearch({ ...said, resourceId: 7 })).toEqual({
    actor: 'key_1',
    resourceType: 'gate',
  })
})

test('days are those of the pages’ zone, and the last one is included', () => {
  const search = { action: 'gate.update', from: '2026-11-20', to: '2026-11-21' } as const
  const query = toAuditQuery(search, 'local')
  expect(query).toEqual({
    action: 'gate.update',
    from: new Date('2026-11-20T00:00:00').toISOString(),
    to: new Date('2026-11-22T00:00:00').toISOString(),
  })
  expect(toAuditQuery(search, 'utc')).toMatchObject({
    from: '2026-11-20T00:00:00.000Z',
    to: '2026-11-22T00:00:00.000Z',
  })
})
