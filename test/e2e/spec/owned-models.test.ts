/**
 * interface-spec, "PATCH {base_url}/v1/owned-models/:slug": its table row by row, then its rules;
 * the registration and its states.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { controlPlaneCall, createGate } from '../../support/control-plane.ts'
import { readFlatError } from '../../support/envelopes.ts'
import { type RawUpstream, startRawUpstream } from '../../support/raw-upstream.ts'
import { jsonAnswer } from '../../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../../support/start-gatehouse.ts'

type Json = Readonly<Record<string, unknown>>

const SLUG = 'house-model'
const CREDENTIAL = 'canary-credential-1'

let gatehouse: Gatehouse
let upstream: RawUpstream
beforeAll(async () => {
  upstream = await startRawUpstream()
  upstream.answer(jsonAnswer(200, { id: 'c', object: 'chat.completion', choices: [] }))
  gatehouse = await startGatehouse({ environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' } })
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', {
    slug: SLUG,
    displayName: 'House model',
    dialect: 'openai-chat',
    baseUrl: `${upstream.url}/v1`,
    upstreamModelId: 'model-1',
    credential: CREDENTIAL,
    pricingInput: 10,
    pricingOutput: 20,
    pricingCachedInput: 5,
  })
  expect(made.status).toBe(201)
  await createGate(gatehouse, 'house', `owned/${SLUG}`)
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

async function patch(
  body: unknown,
): Promise<{ readonly status: number; readonly body: Json; readonly text: string }> {
  const response = await controlPlaneCall(gatehouse, 'PATCH', `/v1/owned-models/${SLUG}`, body)
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) as Json, text }
}

async function show(): Promise<Json> {
  return (await (
    await controlPlaneCall(gatehouse, 'GET', `/v1/owned-models/${SLUG}`)
  ).json()) as Json
}

/** Saved and answered with status 200, and there when it is read again. */
async function expectTaken(field: string, value: unknown): Promise<void> {
  const { status, body } = await patch({ [field]: value })
  expect({ status, value: body[field] }).toEqual({ status: 200, value })
  expect((await show())[field]).toEqual(value)
}

/** A 400 in the flat envelope that names the field, and nothing changed. */
async function expectRefused(field: string, value: unknown): Promise<void> {
  const before = await show()
  const { status, body } = await patch({ [field]: value })
  expect({ status, body }).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(body.message).toStartWith(`${field}: `)
  expect(await show()).toEqual(before)
}

describe('PATCH {base_url}/v1/owned-models/:slug', () => {
  describe('Request body (JSON)', () => {
    test.each([
      ['displayName', 120],
      ['upstreamModelId', 200],
    ] as const)('| %s | string | length 1 to %d |', async (field, most) => {
      await expectTaken(field, 'x')
      await expectTaken(field, 'y'.repeat(most))
      for (const refused of ['', 'z'.repeat(most + 1), 7, null, ['x'], { x: 1 }, true]) {
        await expectRefused(field, refused)
      }
    })

    test('| credential | string | length 1 to 500 |', async () => {
      for (const credential of ['x', 'y'.repeat(500)]) {
        expect((await patch({ credential })).status).toBe(200)
        expect(upstream.last().headers.authorization).toBe(`Bearer ${credential}`)
      }
      for (const refused of ['', 'z'.repeat(501), 7, null, ['x'], 'two\nlines', 'ünsendable']) {
        await expectRefused('credential', refused)
      }
      expect(upstream.last().headers.authorization).toBe(`Bearer ${'y'.repeat(500)}`)
    })

    test.each([['pricingInput'], ['pricingOutput'], ['pricingCachedInput']])(
      '| %s | integer | 0 to 10000 |',
      async (field) => {
        for (const taken of [0, 1, 10_000]) await expectTaken(field, taken)
        for (const refused of [-1, 10_001, 0.5, 1e21, '5', null, true, [5]])
          await expectRefused(field, refused)
      },
    )

    test('any subset of the fields: one, several, all, none', async () => {
      const all = {
        displayName: 'All',
        upstreamModelId: 'model-all',
        credential: 'canary-credential-all',
        pricingInput: 7,
        pricingOutput: 8,
        pricingCachedInput: 9,
      }
      const { credential: _, ...shown } = all
      for (const subset of [
        { displayName: 'One' },
        { pricingInput: 1, pricingOutput: 2 },
        all,
        {},
      ]) {
        expect((await patch(subset)).status).toBe(200)
      }
      expect(await show()).toMatchObject(shown)
    })
  })

  test('Path parameter: slug, the slug of an existing registration', async () => {
    for (const slug of ['no-such', SLUG.toUpperCase(), `${SLUG}2`, '%00', '..%2Fhouse-model']) {
      const response = await controlPlaneCall(gatehouse, 'PATCH', `/v1/owned-models/${slug}`, {
        pricingInput: 1,
      })
      expect({ slug, status: response.status }).toEqual({ slug, status: 404 })
      readFlatError(await response.text())
    }
  })

  test('Response: 200 with the updated registration', async () => {
    const { status, body } = await patch({ displayName: 'Updated' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ slug: SLUG, displayName: 'Updated' })
    expect(body).toEqual(await show())
  })

  describe('Rules', () => {
    test('1. Only the supplied fields change; omitted fields keep their values', async () => {
      const fields = {
        displayName: 'One',
        upstreamModelId: 'model-2',
        pricingInput: 1,
        pricingOutput: 2,
        pricingCachedInput: 3,
      }
      await patch(fields)
      for (const [field, value] of Object.entries(fields)) {
        const before = await show()
        const changed = typeof value === 'number' ? value + 100 : `${value} changed`
        const { status, body } = await patch({ [field]: changed })
        expect(status).toBe(200)
        const { probe, warnings, ...rest } = body
        const { probe: probedBefore, ...restBefore } = before
        expect(rest).toEqual({ ...restBefore, [field]: changed, updatedAt: body.updatedAt })
        // Another model may give other results.
        if (field === 'upstreamModelId') expect(warnings).toEqual([])
        else expect({ probe, warnings }).toEqual({ probe: probedBefore, warnings: undefined })
      }
      const before = await show()
      expect((await patch({})).body).toEqual(before)
    })

    test('2. The slug cannot be changed. To rename, register a new model', async () => {
      for (const slug of ['another', SLUG]) {
        await expectRefused('slug', slug)
        expect((await patch({ slug })).body.message).toContain('register a new model')
      }
      // One refused field keeps the whole change from happening.
      const before = await show()
      expect((await patch({ displayName: 'half', slug: 'another' })).status).toBe(400)
      expect(await show()).toEqual(before)
    })

    test('3. A supplied credential replaces the stored one and a new reachability probe runs', async () => {
      const probed = askedForChat().length
      const { status, body, text } = await patch({ credential: 'canary-credential-2' })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        slug: SLUG,
        probe: {
          status: 'reachable',
          httpStatus: 200,
          latencyMs: expect.any(Number),
          checkedAt: expect.any(String),
        },
        warnings: [],
      })
      expect(text).not.toContain('canary')
      expect(askedForChat()).toHaveLength(probed + 1)
      expect(upstream.last().headers.authorization).toBe('Bearer canary-credential-2')
      expect(JSON.parse(askedForChat().at(-1)?.text ?? '')).toMatchObject({
        model: (await show()).upstreamModelId,
        max_tokens: 1,
      })
      await callGate()
      expect(upstream.last().headers.authorization).toBe('Bearer canary-credential-2')
    })

    test('3. The policy is warn-and-save: the credential is kept although the probe fails', async () => {
      upstream.answerOnce(jsonAnswer(401, { error: { message: 'canary words of the upstream' } }))
      const { status, body, text } = await patch({
        credential: 'canary-credential-3',
        displayName: 'Kept',
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        displayName: 'Kept',
        probe: {
          status: 'unreachable',
          httpStatus: 401,
          detail: 'The server refused the credential.',
        },
        warnings: [
          { code: 'probe_failed', message: expect.stringContaining('refused the credential') },
        ],
      })
      expect(text).not.toContain('canary')
      await callGate()
      expect(upstream.last().headers.authorization).toBe('Bearer canary-credential-3')
    })

    test('3. Without a credential no probe runs', async () => {
      const asked = upstream.requests.length
      const { probe } = await show()
      const { body } = await patch({ displayName: 'Quiet' })
      expect(body.probe).toEqual(probe)
      expect(body).not.toHaveProperty('warnings')
      expect(upstream.requests).toHaveLength(asked)
    })

    test('Error responses use the flat error envelope', async () => {
      for (const [path, status, error] of [
        [`/v1/owned-models/${SLUG}`, 400, 'invalid_request'],
        ['/v1/owned-models/no-such', 404, 'not_found'],
      ] as const) {
        const response = await controlPlaneCall(
          gatehouse,
          'PATCH',
          path,
          status === 400 ? { nope: 1 } : {},
        )
        expect(response.status).toBe(status)
        expect(await response.json()).toMatchObject({ error, message: expect.any(String) })
      }
      const stranger = await controlPlaneCall(
        { ...gatehouse, key: 'sk-svc-nobody' },
        'PATCH',
        `/v1/owned-models/${SLUG}`,
        {},
      )
      expect(stranger.status).toBe(401)
      expect(await stranger.json()).toMatchObject({
        error: 'unauthorized',
        message: expect.any(String),
      })
    })
  })
})

describe('Owned-model registration', () => {
  test('| slug | string | Path identifier. Immutable. It is the routing reference |', async () => {
    await patch({ displayName: 'Another name', upstreamModelId: 'another-model' })
    await callGate()
    expect(JSON.parse(upstream.last().text)).toMatchObject({ model: 'another-model' })
    await expectRefused('slug', 'another')
  })
})

describe('States and transitions', () => {
  test('replacing an owned-model credential triggers a reachability probe, and so does naming another model', async () => {
    for (const [change, probes] of [
      [{ displayName: 'x', pricingInput: 1, pricingOutput: 2, pricingCachedInput: 3 }, 0],
      [{}, 0],
      [{ upstreamModelId: 'y' }, 1],
      [{ upstreamModelId: 'y' }, 0],
      [{ credential: 'canary-credential-4' }, 1],
      [{ credential: 'canary-credential-4' }, 1],
    ] as const) {
      const asked = askedForChat().length
      const { body } = await patch(change)
      expect(askedForChat()).toHaveLength(asked + probes)
      expect('warnings' in body).toBe(probes === 1)
    }
  })
})

/** Without what a probe asks for beside it. */
function askedForChat() {
  return upstream.requests.filter(({ path }) => path === '/v1/chat/completions')
}

async function callGate(): Promise<void> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
    gate_id: 'house',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect(response.status).toBe(200)
  await response.text()
}
