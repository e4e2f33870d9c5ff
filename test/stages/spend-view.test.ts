/** `GET /api/oauth/usage`, which Claude Code asks for its usage view. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import type { SpendState } from '../../src/core/spend-state.ts'
import { CALLER_KEY, type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import { GATE, TARGET } from '../support/stage-rows.ts'

const SPEND: SpendState = {
  period: 'day',
  usedNanoUsd: 250_000_000,
  limitNanoUsd: 1_000_000_000,
  endsAtMs: Date.parse('2026-11-30T00:00:00.000Z'),
}

async function ask(
  script: Partial<GatewayScript> = {},
  request: { method?: string; path?: string; headers?: Record<string, string | null> } = {},
) {
  const gateway = new InProcessGateway({ gates: { [GATE]: [TARGET] }, ...script })
  const seen = await gateway.ask({ path: '/api/oauth/usage', method: 'GET', ...request })
  expect(seen.headers['request-id']).toMatch(/^req_/)
  return { ...seen, body: seen.text === '' ? undefined : JSON.parse(seen.text) }
}

describe('shows the caller its own budgets in money', () => {
  const limits = { ownSpend: [SPEND] }
  const shown = {
    extra_usage: { monthly_limit: 100, used_credits: 25, utilization: 25, currency: 'USD' },
    limits: [{ group: 'daily', percent: 25, resets_at: '2026-11-30T00:00:00.000Z' }],
  }
  test.each([
    ['with a bearer key', {}],
    ['with x-api-key', { headers: { authorization: null, 'x-api-key': CALLER_KEY } }],
    ['with the client’s query', { path: '/api/oauth/usage?skip_spend=1' }],
  ])('%s', async (_, request) => {
    const { status, headers, body } = await ask({ limits }, request)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toMatchObject(shown)
  })

  test('with an empty list when none applies', async () => {
    expect(await ask()).toMatchObject({ status: 200, body: { limits: [] } })
  })
})

describe('refuses in the form of Messages', () => {
  const unknown = new GatewayError('unavailable', 'Nobody can say.')
  test.each([
    ['a wrong key', {}, { headers: { authorization: 'Bearer sk-svc-00' } }, 401],
    ['another method', {}, { method: 'POST' }, 405],
    ['while usage is unknown', { limits: { whenReady: () => Promise.reject(unknown) } }, {}, 503],
  ] as const)('%s', async (_, script, request, status) => {
    const seen = await ask(script, request)
    expect(seen).toMatchObject({ status, body: { type: 'error' } })
  })
})
