import { expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()
const url = '/v1/targets/health'
const AT = Date.parse('2026-01-02T00:00:00Z')

check([
  [
    'a target of which nothing is known',
    `GET ${url}`,
    undefined,
    200,
    '"state":"unknown"',
    '"configured":true',
  ],
  ['a query', `GET ${url}?limit=1`, undefined, 400, 'limit'],
])

test("every target of the account is listed once, with the node's observations of it", async () => {
  const targets = [
    { model: 'openai/gpt-5' },
    { model: 'mistral/codestral' },
    { model: 'owned/none' },
  ]
  expect(
    (await send({ method: 'POST', url: '/v1/gates', body: { targets: targets.slice(0, 2) } }))
      .status,
  ).toBe(201)
  current().seen.set(`${DEFAULT_ACCOUNT} openai/gpt-5`, {
    condition: 'resting',
    failuresInARow: 5,
    restsUntilMs: AT,
    averageFirstByteMs: 12.34,
    lastAnsweredAtMs: AT - 1,
    lastFailure: { kind: 'upstream_error', status: 502, atMs: AT - 2 },
  })
  expect(await sendForJson({ url })).toEqual({
    data: expect.arrayContaining([
      {
        target: 'openai/gpt-5',
        configured: true,
        state: 'resting',
        restsUntil: '2026-01-02T00:00:00.000Z',
        failuresInARow: 5,
        averageFirstByteMs: 12.3,
        lastAnsweredAt: '2026-01-01T23:59:59.999Z',
        lastFailure: { code: 'upstream_error', status: 502, at: '2026-01-01T23:59:59.998Z' },
      },
      {
        target: 'mistral/codestral',
        configured: false,
        state: 'unknown',
        restsUntil: null,
        failuresInARow: 0,
        averageFirstByteMs: null,
        lastAnsweredAt: null,
        lastFailure: null,
      },
    ]),
    nextCursor: null,
    seenSince: '2026-01-01T12:00:00.000Z',
  })
  const { data } = (await sendForJson({ url })) as { data: unknown[] }
  expect(data).toHaveLength(2)
})

const answered = {
  condition: 'well',
  failuresInARow: 0,
  restsUntilMs: 0,
  averageFirstByteMs: 1,
  lastAnsweredAtMs: AT,
  lastFailure: undefined,
} as const

test.each([
  ['healthy', answered],
  ['failing', { ...answered, failuresInARow: 1 }],
  ['probing', { ...answered, failuresInARow: 5, condition: 'probe' }],
  ['unknown', { ...answered, lastAnsweredAtMs: 0 }],
] as const)('%s', async (state, seen) => {
  current().seen.set(`${DEFAULT_ACCOUNT} openai/gpt-5`, seen)
  expect(await sendForJson({ url })).toMatchObject({ data: [{ state, restsUntil: null }] })
})

test("an account's own provider key counts while it is active", async () => {
  await send({
    method: 'POST',
    url: '/v1/gates',
    body: { targets: [{ model: 'mistral/codestral' }] },
  })
  const configured = async () => {
    const { data } = (await sendForJson({ url })) as {
      data: { target: string; configured: boolean }[]
    }
    return data.find(({ target }) => target === 'mistral/codestral')?.configured
  }
  expect(await configured()).toBe(false)
  await send({
    method: 'PUT',
    url: '/v1/provider-keys/mistral',
    body: { key: 'own-key-of-the-account' },
  })
  expect(await configured()).toBe(true)
  await send({ method: 'PATCH', url: '/v1/provider-keys/mistral', body: { active: false } })
  expect(await configured()).toBe(false)
})

test('another account sees no target', async () => {
  current().seen.set(`${DEFAULT_ACCOUNT} openai/gpt-5`, { ...answered, failuresInARow: 3 })
  const headers = { authorization: `Bearer ${strangerKey}` }
  expect(await sendForJson({ url, headers })).toMatchObject({ data: [], nextCursor: null })
})
