import { describe, expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { target, testKey, useControlPlane } from './control-plane.fixture.ts'

const { check, current, sendForJson } = useControlPlane()

const gate = { id: 'new', targets: [target] }
const url = '/v1/gates'

/** Well made, and of nothing that was listed: Postgres refuses a NUL in text, for one. */
const STRANGE_CURSORS = ['\u0000', 'a\u0000', '\ud800', '\n', 'a'.repeat(375)].map((id) =>
  Buffer.from(JSON.stringify([1, id])).toString('base64url'),
)

describe('lists', () => {
  check([
    ['gates', 'GET /v1/gates', undefined, 200, '"nextCursor":null', '"id":"demo"'],
    ['providers', 'GET /v1/providers', undefined, 200, '"id":"mistral"', '"configured":true'],
    [
      'conformance',
      'GET /v1/conformance',
      undefined,
      200,
      '"verdict":"relayed"',
      '"nextCursor":null',
    ],
    ['a parameter on conformance', 'GET /v1/conformance?provider=x', undefined, 400, 'provider: '],
    ['limit 1', 'GET /v1/gates?limit=1', undefined, 200],
    ['limit 200', 'GET /v1/gates?limit=200', undefined, 200],
    ...['0', '201', '-1', '1.5', '1e1', 'x', '', ' 5', '9999999999'].map((limit) => ({
      name: `limit ${JSON.stringify(limit)}`,
      method: 'GET',
      url: `${url}?limit=${encodeURIComponent(limit)}`,
      status: 400,
      holds: ['limit: must be a whole number from 1 to 200'],
    })),
    ['limit given twice', 'GET /v1/gates?limit=1&limit=2', undefined, 400, 'limit: '],
    ...[...STRANGE_CURSORS, 'x', '', 'WzEsMl0', 'WzEsImEiXQ==', 'e30', '%00'].flatMap((cursor) =>
      ['/v1/gates', '/v1/keys', '/v1/logs', '/v1/members'].map((list) => ({
        name: `${list} with cursor ${cursor.slice(0, 20)}`,
        method: 'GET',
        url: `${list}?cursor=${cursor}`,
        status: 400,
        holds: ['cursor: is not a cursor of this list'],
      })),
    ),
    [
      'an unknown parameter',
      'GET /v1/gates?page=2',
      undefined,
      400,
      'page: is not a known parameter',
    ],
    ['__proto__ as a parameter', 'GET /v1/gates?__proto__=2', undefined, 400, '__proto__'],
    ['a key as a parameter', `GET /v1/gates?${testKey}=1`, undefined, 400],
    [
      'a parameter on a path without parameters',
      'GET /v1/gates/demo?expand=1',
      undefined,
      400,
      'expand: ',
    ],
    ['a parameter on a deletion', 'DELETE /v1/gates/demo?force=1', undefined, 400, 'force: '],
    ['a parameter on a creation', 'POST /v1/gates?x=1', gate, 400, 'x: '],
  ])

  test('pages cover a list once, newest first, even while rows are added', async () => {
    for (let index = 0; index < 6; index += 1) {
      current().time.now = 5000 + Math.floor(index / 3)
      await current().gates.create(DEFAULT_ACCOUNT, {
        id: `g${index}` as GateId,
        description: '',
        targets: [target],
        timeoutMs: null,
        maxRetries: 0,
      })
    }
    await current().gates.delete(DEFAULT_ACCOUNT, 'demo')
    const seen: string[] = []
    let cursor: unknown = null
    do {
      const page = await sendForJson({
        url: `${url}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
      })
      seen.push(...(page.data as { id: string }[]).map((each) => each.id))
      cursor = page.nextCursor
      current().time.now = 9000
      await current().gates.create(DEFAULT_ACCOUNT, {
        description: '',
        targets: [target],
        timeoutMs: null,
        maxRetries: 0,
      })
    } while (cursor !== null)
    expect(seen).toEqual(['g5', 'g4', 'g3', 'g2', 'g1', 'g0'])
  })
})
