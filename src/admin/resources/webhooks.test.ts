/** `/v1/webhooks`, request by request. */
import { describe, expect, test } from 'bun:test'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const plane = useControlPlane()
const secret = 'planted-secret-0123456789'
const valid = { url: 'https://hooks.example.com/a', secret, events: ['budget.exhausted'] }

async function create(body: object = {}): Promise<Record<string, unknown>> {
  return await plane.sendForJson({
    method: 'POST',
    url: '/v1/webhooks',
    body: { ...valid, ...body },
  })
}

describe('an invalid field is named, and the secret is never repeated', () => {
  const refused = (name: string, body: object, ...holds: string[]) => ({
    name,
    method: 'POST',
    url: '/v1/webhooks',
    body: { ...valid, ...body },
    status: 400,
    holds,
    hides: ['planted'],
  })
  plane.check([
    refused('an empty secret', { secret: '' }, 'secret: must hold at least 16 characters'),
    refused('a short secret', { secret: 'planted-short-1' }, 'secret'),
    refused('a secret in spaces', { secret: ` ${secret}` }, 'secret'),
    refused('a secret of null', { secret: null }, 'secret'),
    refused('no event', { events: [] }, 'events'),
    refused('an unknown event', { events: ['call.made'] }, 'events[0]'),
    refused('an event twice', { events: ['budget.exhausted', 'budget.exhausted'] }, 'events'),
    refused('no address', { url: 'here' }, '"field":"url"'),
    refused('plain http', { url: 'http://hooks.example.com' }, '"field":"url"'),
    refused('a file', { url: 'file:///etc/passwd' }, 'url'),
    refused('a password', { url: 'https://user:planted@hooks.example.com' }, 'url'),
    ...[
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      'localhost',
      'localhost.',
      'metadata.google.internal',
      'intranet',
      '[::1]',
      '[::ffff:10.0.0.1]',
      '[fd00::1]',
      '[fe80::1]',
      '[ff02::1]',
      '[2002:7f00:1::]',
    ].map((host) => refused(host, { url: `https://${host}/` }, '"field":"url"')),
  ])
})

test('a webhook is created, changed and deleted, and its secret is never shown', async () => {
  const made = await create()
  expect(made).toMatchObject({ url: valid.url, events: valid.events, active: true })
  expect(made.secret).toBeUndefined()
  const url = `/v1/webhooks/${made.id}`
  const changed = await plane.send({
    method: 'PATCH',
    url,
    body: { active: false, secret: `${secret}-new` },
  })
  const texts = [
    await changed.text(),
    await (await plane.send({ url })).text(),
    await (await plane.send({ url: '/v1/webhooks' })).text(),
  ]
  for (const text of texts) expect(text).not.toContain('planted')
  expect(texts[1]).toContain('"active":false')
  const stored = plane
    .current()
    .webhooks.get(
      plane.current().webhooks.list('acct_default' as never)[0]?.accountId ?? ('' as never),
      String(made.id),
    )
  expect(stored.sealedSecret).not.toContain('planted')
  expect(plane.current().webhooks.openSecret(stored).reveal()).toBe(`${secret}-new`)
  expect((await plane.send({ method: 'DELETE', url })).status).toBe(204)
  expect((await plane.send({ url })).status).toBe(404)
})

test('a missing secret is generated and shown once', async () => {
  const made = await create({ secret: undefined })
  expect(made.secret).toMatch(/^whsec_[0-9a-f]{64}$/)
  expect(await plane.sendForJson({ url: `/v1/webhooks/${made.id}` })).not.toHaveProperty('secret')
})

test('a test shows its result, with or without a body', async () => {
  const { id } = await create()
  for (const body of [undefined, {}]) {
    const answer = await plane.sendForJson({ method: 'POST', url: `/v1/webhooks/${id}/test`, body })
    expect(answer).toEqual({ delivered: false, status: 500, detail: 'answered 500' })
  }
})

test("another account's webhooks cannot be seen, changed, tested or deleted", async () => {
  const { id } = await create()
  const headers = { authorization: `Bearer ${strangerKey}` }
  const url = `/v1/webhooks/${id}`
  expect(await plane.sendForJson({ url: '/v1/webhooks', headers })).toMatchObject({ data: [] })
  expect((await plane.send({ url, headers })).status).toBe(404)
  expect(
    (await plane.send({ method: 'PATCH', url, headers, body: { active: false } })).status,
  ).toBe(404)
  expect((await plane.send({ method: 'POST', url: `${url}/test`, headers, body: {} })).status).toBe(
    404,
  )
  expect((await plane.send({ method: 'DELETE', url, headers })).status).toBe(404)
})
