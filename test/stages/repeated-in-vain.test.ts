/**
 * Refusals that persist carry `x-should-retry: false`, so that SDKs do not repeat the request.
 * Temporary failures do not.
 */
import { describe } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { toOwnedUpstream } from '../../src/gateway/plan/owned-upstream.ts'
import { AddressRefusedError } from '../../src/net/address-guard.ts'
import { CALL_ENDPOINTS } from '../../src/wire/dialects.ts'
import { CALLER } from '../support/in-process-gateway.ts'
import { json, pause, UNREACHABLE } from '../support/scripted-upstream.ts'
import { GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const HEADER = 'x-should-retry'
const FIRST = 'openai/first'
const SECOND = 'groq/second'
const gates = (...targets: string[]) => ({ gates: { [GATE]: targets } })
const refusal = (status: number) => json(status, { error: { message: `said ${status}` } })
const owned = {
  ownedModels: [
    toOwnedUpstream(
      {
        accountId: CALLER.accountId,
        slug: 'mine',
        dialect: 'openai-chat',
        baseUrl: 'https://models.example/v1',
        upstreamModelId: 'llama-7b',
      } as Parameters<typeof toOwnedUpstream>[0],
      { secret: new Secret('planted-owned'), owner: 'account' },
    ),
  ],
  addresses: { resolve: () => Promise.reject(new AddressRefusedError('It is private.')) },
}
const seen = (status: number, hint: string | null, code?: string): StageRow['seen'] => ({
  status,
  headers: { [HEADER]: hint },
  ...(code === undefined ? {} : { json: { error: { code } } }),
})
const failed = { outcome: 'failed' as const }

describe('a refusal that persists', () => {
  runRows([
    ...[...Object.keys(CALL_ENDPOINTS), '/v1/models', '/alt/v1/models'].map((path) => ({
      name: `without a key at ${path}`,
      request: {
        path,
        headers: { authorization: null },
        ...(path.endsWith('/models') ? { method: 'GET', body: undefined } : {}),
      },
      seen: seen(401, 'false'),
      settled: null,
    })),
    ...[401, 403].map((status) => ({
      name: `of a credential that the provider answers with ${status}`,
      upstream: [refusal(status)],
      seen: seen(502, 'false', 'provider_auth_failed'),
      sent: [{}],
      settled: failed,
    })),
    {
      name: 'of a credential, whatever the provider says about a retry',
      upstream: [json(401, { error: { message: 'no' } }, { [HEADER]: 'true' })],
      seen: seen(502, 'false', 'provider_auth_failed'),
      sent: [{}],
      settled: failed,
    },
    {
      name: 'for want of a credential',
      gateway: { credentials: { openai: 'none' } },
      seen: seen(502, 'false', 'provider_auth_failed'),
      settled: failed,
    },
    {
      name: 'for want of an address',
      gateway: { withoutAddress: ['openai'] },
      seen: seen(502, 'false', 'provider_not_configured'),
      settled: failed,
    },
    {
      name: 'of an address that is not allowed',
      gateway: { ...owned, ...gates('owned/mine') },
      seen: seen(502, 'false', 'address_refused'),
      settled: failed,
    },
    {
      name: 'of every target',
      gateway: gates(FIRST, SECOND),
      upstream: [refusal(401), refusal(403)],
      seen: seen(502, 'false', 'provider_auth_failed'),
      sent: [{}, {}],
      settled: failed,
    },
  ])
})

describe('a failure that may pass', () => {
  runRows([
    ...[500, 503, 429].map((status) => ({
      name: `of an upstream that answers ${status}`,
      upstream: [refusal(status)],
      seen: seen(status === 500 ? 502 : status, null),
      sent: [{}],
      settled: failed,
    })),
    {
      name: 'of an upstream that cannot be reached',
      upstream: [UNREACHABLE],
      seen: seen(502, null),
      sent: [{}],
      settled: failed,
    },
    {
      name: 'of the first target, before the second refuses its credential',
      gateway: gates(FIRST, SECOND),
      upstream: [refusal(500), refusal(401)],
      seen: seen(502, 'true', 'provider_auth_failed'),
      sent: [{}, {}],
      settled: failed,
    },
    {
      name: 'of one of two targets asked side by side',
      gateway: {
        gates: {
          [GATE]: { targets: [{ model: FIRST }, { model: SECOND }], hedgeAfterMs: 200 },
        },
      },
      upstream: [
        [pause(300), ...refusal(500)],
        [pause(300), ...refusal(401)],
      ],
      seen: seen(502, 'true', 'provider_auth_failed'),
      sent: [{}, {}],
      settled: failed,
    },
    {
      name: 'of the first target is not told with an answer of the second',
      gateway: gates(FIRST, SECOND),
      upstream: [refusal(500), json(200, { choices: [] })],
      seen: seen(200, null),
      sent: [{}, {}],
      settled: { outcome: 'succeeded' },
    },
  ])
})
