import { describe, expect, test } from 'bun:test'
import { stranger, strangerKey, testKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()

const url = '/v1/gates'

describe('keys', () => {
  const imported = { name: 'old', key: 'svc_0123456789abcdef' }
  const importUrl = '/v1/keys/import'
  check([
    {
      name: 'created',
      method: 'POST',
      url: '/v1/keys',
      body: { name: 'ci' },
      status: 201,
      holds: ['"key":"sk-svc-', '"name":"ci"', '"lastUsedAt":null'],
      hides: ['sha256', 'accountId'],
    },
    ['created without a name', 'POST /v1/keys', {}, 400, 'name: is required'],
    [
      'created with a key of their own',
      'POST /v1/keys',
      { name: 'x', key: testKey },
      400,
      'key: is not a known field',
    ],
    [
      'created with an account',
      'POST /v1/keys',
      { name: 'x', accountId: 'acct_x' },
      400,
      'accountId: ',
    ],
    [
      'created with a line break in the name',
      'POST /v1/keys',
      { name: 'a\u001b[31m' },
      400,
      'name: ',
    ],
    {
      name: 'imported',
      method: 'POST',
      url: importUrl,
      body: imported,
      status: 201,
      holds: ['"maskedPrefix":"svc_0123…"'],
      hides: [imported.key, '"key"'],
    },
    {
      name: 'imported, new format',
      method: 'POST',
      url: importUrl,
      body: { name: 'x', key: `sk-svc-${'7c81be24'.repeat(8)}` },
      status: 201,
      hides: ['7c81be24'],
    },
    [
      'imported though there already',
      'POST /v1/keys/import',
      { name: 'x', key: testKey },
      409,
      '"error":"conflict"',
    ],
    {
      name: 'imported in an unknown format',
      method: 'POST',
      url: importUrl,
      body: { name: 'x', key: 'hunter2hunter2' },
      status: 400,
      holds: ['key: is not in a known format'],
      hides: ['hunter2'],
    },
    [
      'imported although it is short',
      'POST /v1/keys/import',
      { name: 'x', key: 'svc_12345678' },
      400,
      'key: is too easy to guess',
    ],
    [
      'imported although it is one letter short',
      'POST /v1/keys/import',
      { name: 'x', key: 'legacy_0123456789abcde' },
      400,
      'key: is too easy to guess',
    ],
    [
      'imported although it repeats five letters',
      'POST /v1/keys/import',
      { name: 'x', key: `svc_${'abcde'.repeat(100)}` },
      400,
      'key: is too easy to guess',
    ],
    [
      'imported, new format, although it repeats one letter',
      'POST /v1/keys/import',
      { name: 'x', key: `sk-svc-${'a'.repeat(64)}` },
      400,
      'key: is too easy to guess',
    ],
    {
      name: 'imported as a number',
      method: 'POST',
      url: importUrl,
      body: { name: 'x', key: 12345678 },
      status: 400,
      holds: ['key: must be a string'],
      hides: ['12345678'],
    },
    ['deleted though not there', 'DELETE /v1/keys/key_nope', undefined, 404, '"error":"not_found"'],
    ['deleted by the key itself', `DELETE /v1/keys/${testKey}`, undefined, 404],
    ['__proto__ deleted', 'DELETE /v1/keys/__proto__', undefined, 404],
    [
      'changed though not there',
      'PATCH /v1/keys/key_nope',
      { name: 'x' },
      404,
      '"error":"not_found"',
    ],
    ['rotated though not there', 'POST /v1/keys/key_nope/rotate', {}, 404, '"error":"not_found"'],
    [
      'created with an end that is past',
      'POST /v1/keys',
      { name: 'x', expiresAt: '2020-01-01T00:00:00Z' },
      400,
      'expiresAt: must be in the future',
    ],
    [
      'created with an invalid expiry',
      'POST /v1/keys',
      { name: 'x', expiresAt: 'soon' },
      400,
      '"expiresAt: must be a time with its zone, such as 2099-12-31T00:00:00Z"',
    ],
    [
      'created with an end in a year of five digits',
      'POST /v1/keys',
      { name: 'x', expiresAt: '9999-12-31T23:59:59-01:00' },
      400,
      'expiresAt: must be before the year 10000',
    ],
    [
      'created with an end that is a number',
      'POST /v1/keys',
      { name: 'x', expiresAt: 1e15 },
      400,
      'expiresAt: ',
    ],
    [
      'rotated for longer than is possible',
      'POST /v1/keys/key_nope/rotate',
      { oldEndsInSeconds: 1e9 },
      400,
      'oldEndsInSeconds: ',
    ],
    [
      'rotated into the past',
      'POST /v1/keys/key_nope/rotate',
      { oldEndsInSeconds: -1 },
      400,
      'oldEndsInSeconds: ',
    ],
    [
      'another account named',
      'PATCH /v1/keys/key_nope',
      { accountId: 'acct_x' },
      400,
      'accountId: is not a known field',
    ],
  ])

  test('a new key works at once, shows up masked, and is refused as soon as it is deleted', async () => {
    const created = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'ci' } })
    const headers = { authorization: `Bearer ${created.key}` }
    expect((await send({ url, headers })).status).toBe(200)
    const { key: _, ...shown } = created
    const list = await sendForJson({ url: '/v1/keys' })
    expect(list).toEqual({ data: [shown], nextCursor: null })
    expect((await send({ method: 'DELETE', url: `/v1/keys/${created.id}`, headers })).status).toBe(
      200,
    )
    expect((await send({ url, headers })).status).toBe(401)
    expect(await sendForJson({ url: '/v1/keys' })).toEqual({ data: [], nextCursor: null })
  })

  describe('a deleted key cannot be imported again', () => {
    const fresh = `sk-svc-${'0123456789abcdef'.repeat(4)}`
    test.each([
      ['by its account', fresh, fresh, testKey],
      ['by another account', fresh, fresh, strangerKey],
      [
        'with its letters in the other case',
        fresh,
        fresh.toUpperCase().replace('SK-SVC', 'sk-svc'),
        testKey,
      ],
      ['with its prefix in the other case', fresh, fresh.replace('sk-svc', 'SK-SVC'), strangerKey],
      ['of an older format', 'svc_0123456789abcdef', 'svc_0123456789abcdef', strangerKey],
    ])('%s', async (_, key, again, by) => {
      const row = { id: stranger, name: 'Stranger', created_at: 1, plan: null }
      await current().store.database.insertInto('accounts').values(row).execute()
      const body = { name: 'once', key }
      const { id } = await sendForJson({ method: 'POST', url: importUrl, body })
      await send({ method: 'DELETE', url: `/v1/keys/${id}` })
      const headers = { authorization: `Bearer ${by}` }
      const refused = await send({
        method: 'POST',
        url: importUrl,
        body: { name: 'x', key: again },
        headers,
      })
      expect(refused.status).toBe(409)
      expect(await refused.text()).toContain('was deleted')
      for (const each of [key, again]) {
        const used = await send({ url, headers: { authorization: `Bearer ${each}` } })
        expect(used.status).toBe(401)
      }
      expect(await sendForJson({ url: '/v1/keys', headers })).toMatchObject({ data: [] })
    })

    test('with white space around it, which is refused as malformed', async () => {
      for (const key of [
        ` ${imported.key}`,
        `${imported.key}\n`,
        `${imported.key}\t`,
        `\u00a0${imported.key}`,
      ])
        expect(
          (await send({ method: 'POST', url: importUrl, body: { name: 'x', key } })).status,
        ).toBe(400)
    })
  })

  test('a key shows its creator, is renamed, gets an expiry and is rotated', async () => {
    const created = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'ci' } })
    const { data } = (await sendForJson({ url: '/v1/audit-log' })) as {
      data: { actor: { id: string } }[]
    }
    expect(created).toMatchObject({ createdBy: data[0]?.actor.id, expiresAt: null, previous: null })
    const own = `/v1/keys/${created.id}`
    const change = { name: 'renamed', expiresAt: '2099-12-31T01:00:00+01:00' }
    const changed = await sendForJson({ method: 'PATCH', url: own, body: change })
    expect(changed).toMatchObject({ name: 'renamed', expiresAt: '2099-12-31T00:00:00.000Z' })
    expect(await sendForJson({ url: own })).toEqual(changed)

    const body = { oldEndsInSeconds: 60 }
    const rotated = await sendForJson({ method: 'POST', url: `${own}/rotate`, body })
    expect(rotated).toMatchObject({
      id: created.id,
      previous: { maskedPrefix: created.maskedPrefix },
    })
    const statusWith = async (key: unknown) =>
      (await send({ url, headers: { authorization: `Bearer ${key}` } })).status
    expect([await statusWith(created.key), await statusWith(rotated.key)]).toEqual([200, 200])
    expect((await send({ method: 'POST', url: `${own}/rotate`, body })).status).toBe(409)
    current().time.now += 60_000
    expect([await statusWith(created.key), await statusWith(rotated.key)]).toEqual([401, 200])
    current().time.now = Date.parse('2100-01-01')
    expect(await statusWith(rotated.key)).toBe(401)
    const actions = (await sendForJson({ url: '/v1/audit-log' })) as { data: { action: string }[] }
    expect(actions.data.map(({ action }) => action).slice(0, 3)).toEqual([
      'key.rotate',
      'key.update',
      'key.create',
    ])
    expect(JSON.stringify(actions)).not.toContain(String(rotated.key).slice(0, 20))
  })

  test('whoever holds the old text of a rotated key calls on, and gets no new one by it', async () => {
    const created = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'leaked' } })
    const rotateUrl = `/v1/keys/${created.id}/rotate`
    const rotated = await sendForJson({ method: 'POST', url: rotateUrl, body: {} })
    const withKey = (key: unknown, method: string, url: string, body?: object) =>
      send({
        method,
        url,
        headers: {
          authorization: `Bearer ${key}`,
          origin: 'http://gatehouse.test',
          'x-gatehouse-csrf': '1',
        },
        ...(body && { body }),
      })
    expect((await withKey(created.key, 'GET', url)).status).toBe(200)
    for (const [path, body] of [
      [rotateUrl, { oldEndsInSeconds: 0 }],
      ['/v1/keys', { name: 'x' }],
      [importUrl, imported],
      ['/v1/invitations', { email: 'thief@example.com' }],
      [
        '/v1/auth/sign-up',
        { email: 'thief@example.com', name: 'T', password: 'correct horse battery staple' },
      ],
    ] as const) {
      const refused = await withKey(created.key, 'POST', path, body)
      expect({ path, status: refused.status }).toEqual({ path, status: 403 })
      expect(await refused.text()).toContain('was rotated')
    }
    // The new text is in force still, and may all of it.
    expect((await withKey(rotated.key, 'POST', '/v1/keys', { name: 'x' })).status).toBe(201)
    const ended = { oldEndsInSeconds: 0 }
    expect((await withKey(rotated.key, 'POST', rotateUrl, ended)).status).toBe(201)
  })

  test('another account cannot list or delete a key', async () => {
    const created = await sendForJson({ method: 'POST', url: '/v1/keys', body: { name: 'ci' } })
    const headers = { authorization: `Bearer ${strangerKey}` }
    expect(await sendForJson({ url: '/v1/keys', headers })).toEqual({ data: [], nextCursor: null })
    expect((await send({ method: 'DELETE', url: `/v1/keys/${created.id}`, headers })).status).toBe(
      404,
    )
  })
})
