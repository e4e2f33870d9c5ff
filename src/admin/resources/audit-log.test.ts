import { beforeEach, describe, expect, test } from 'bun:test'
import type { CallId } from '../../core/ids.ts'
import {
  stranger,
  strangerKey,
  target,
  testKey,
  useControlPlane,
} from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

type Entry = Readonly<Record<string, unknown>>

async function list(query = '', headers: Record<string, string> = {}): Promise<readonly Entry[]> {
  const page = await sendForJson({ url: `/v1/audit-log${query}`, headers })
  return page.data as readonly Entry[]
}

describe('the query is checked', () => {
  const time = 'must be a time'
  check([
    ['no query', 'GET /v1/audit-log', undefined, 200, '"gate.create"', '"nextCursor":null'],
    [
      'an unknown parameter',
      'GET /v1/audit-log?actr=x',
      undefined,
      400,
      'actr: is not a known parameter',
    ],
    [
      'an unknown action',
      'GET /v1/audit-log?action=gate.paint',
      undefined,
      400,
      'action: must be one of gate.create',
    ],
    [
      'an unknown type',
      'GET /v1/audit-log?resourceType=call',
      undefined,
      400,
      'resourceType: must be one of gate,',
    ],
    ['an empty actor', 'GET /v1/audit-log?actor=', undefined, 400, 'actor: must be 1 to 300'],
    [
      'an actor twice',
      'GET /v1/audit-log?actor=a&actor=b',
      undefined,
      400,
      'actor: must be given once',
    ],
    [
      'a resource with a NUL',
      'GET /v1/audit-log?resourceId=%00',
      undefined,
      400,
      'resourceId: must be 1 to 300',
    ],
    [
      'a time without a zone',
      'GET /v1/audit-log?from=2026-01-01T00:00:00',
      undefined,
      400,
      `from: ${time}`,
    ],
    ['no time', 'GET /v1/audit-log?to=yesterday', undefined, 400, `to: ${time}`],
    ['an invalid day', 'GET /v1/audit-log?to=2026-02-31T25:00:00Z', undefined, 400, `to: ${time}`],
    [
      'a range backwards',
      'GET /v1/audit-log?from=2026-01-02&to=2026-01-01',
      undefined,
      400,
      'to: must be later than from',
    ],
    ['a limit of none', 'GET /v1/audit-log?limit=0', undefined, 400, 'limit: '],
    [
      'an invented cursor',
      'GET /v1/audit-log?cursor=abc',
      undefined,
      400,
      'cursor: is not a cursor of this list',
    ],
    ['a write', 'DELETE /v1/audit-log', undefined, 405, 'method_not_allowed'],
  ])
})

describe('changes over HTTP', () => {
  beforeEach(async () => {
    await send({ method: 'POST', url: '/v1/gates', body: { id: 'one', targets: [target] } })
    await send({ method: 'PATCH', url: '/v1/gates/one', body: { displayName: 'One' } })
  })

  test('show the key that made them, the request, and the resource before and after', async () => {
    const shown = await sendForJson({ url: '/v1/gates/one' })
    const [entry] = await list()
    expect(entry).toMatchObject({
      actor: { type: 'key', name: 'test' },
      action: 'gate.update',
      resourceType: 'gate',
      resourceId: 'one',
      requestId: 'req_test' as CallId,
      clientAddress: null,
      before: { displayName: 'one' },
    })
    // Computed facts are no part of the change.
    const { resolvedFacts: _, ...stored } = shown
    expect(entry?.after).toEqual(stored)
    expect(Object.keys(entry?.before ?? {})).toEqual(Object.keys(stored))
  })

  test('show the address that the request came from', async () => {
    const body = JSON.stringify({ name: 'second' })
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' }
    const request = new Request('http://gatehouse.test/v1/keys', { method: 'POST', headers, body })
    await current().controlPlane.handle(request, 'req_test' as CallId, '192.0.2.7')
    expect(await list('?limit=1')).toMatchObject([
      { action: 'key.create', clientAddress: '192.0.2.7' },
    ])
  })

  test('are filtered, and come in pages', async () => {
    expect(await list('?resourceId=one')).toHaveLength(2)
    expect(await list('?resourceId=one&action=gate.update')).toHaveLength(1)
    expect(await list('?resourceType=key')).toEqual([])
    expect(await list('?actor=local')).toMatchObject([{ resourceId: 'demo' }])
    expect(await list('?from=2999-01-01')).toEqual([])
    const first = await sendForJson({ url: '/v1/audit-log?limit=1&resourceId=one' })
    const second = await sendForJson({
      url: `/v1/audit-log?limit=1&resourceId=one&cursor=${first.nextCursor}`,
    })
    expect(second).toMatchObject({ data: [{ action: 'gate.create' }], nextCursor: null })
  })

  test('of another account are never shown, whatever the query', async () => {
    const headers = { authorization: `Bearer ${strangerKey}` }
    for (const query of [
      '',
      '?resourceId=one',
      '?action=gate.create',
      '?actor=local',
      '?resourceType=gate',
    ])
      expect(await list(query, headers)).toEqual([])
    const { nextCursor } = await sendForJson({ url: '/v1/audit-log?limit=1' })
    expect(await list(`?cursor=${nextCursor}`, headers)).toEqual([])
    expect(await current().store.auditLog.list(stranger, {}, { limit: 10 })).toEqual([])
  })

  test('that were refused are not in the log', async () => {
    const before = await list()
    await send({ method: 'POST', url: '/v1/gates', body: { id: 'one', targets: [target] } })
    await send({ method: 'POST', url: '/v1/gates', body: { id: 'two', targets: [] } })
    await send({ method: 'PATCH', url: '/v1/gates/nobody', body: { displayName: 'x' } })
    await send({ method: 'DELETE', url: '/v1/keys/nobody' })
    await send({ method: 'PATCH', url: '/v1/provider-keys/openai', body: { active: true } })
    await send({
      method: 'DELETE',
      url: '/v1/gates/one',
      headers: { authorization: `Bearer ${strangerKey}` },
    })
    expect(await list()).toEqual(before)
  })
})
