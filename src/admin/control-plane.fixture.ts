/**
 * A control plane over a store of its own, for the tests of this folder, and tables of requests to
 * run against it.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openMigratedStore } from '../../test/support/migrated-file.ts'
import { systemClock } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
  type UserId,
} from '../core/ids.ts'
import { NO_OVERLAY } from '../core/model-overlay.ts'
import { createPlans } from '../core/plan.ts'
import type { ProviderKeyProbe } from '../core/provider-key.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import type { SeenTarget } from '../gateway/attempt/circuit-breakers.ts'
import { authenticate } from '../gateway/authenticate.ts'
import { createRulesOf } from '../gateway/models/rules-of-target.ts'
import type { Caller } from '../gateway/ports.ts'
import { createIdentity } from '../identity/identity.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { AddressGuard } from '../net/address-guard.ts'
import { TrustedHosts } from '../net/trusted-hosts.ts'
import { catalog } from '../providers/catalog.ts'
import { AttributionRegistry } from '../snapshots/attribution-registry.ts'
import { GateRegistry } from '../snapshots/gate-registry.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { KeyRegistry } from '../snapshots/key-registry.ts'
import { ModelPriceRegistry } from '../snapshots/model-price-registry.ts'
import { OwnedModelRegistry } from '../snapshots/owned-model-registry.ts'
import { loadPlainRegistries } from '../snapshots/plain-registry.ts'
import { ProviderKeyRegistry } from '../snapshots/provider-key-registry.ts'
import { StopRegistry } from '../snapshots/stop-registry.ts'
import { WebhookRegistry } from '../webhooks/webhook-registry.ts'
import type { Prices } from './control-plane-app.ts'
import { RequestRates, type RequestRatesOptions } from './request-rates.ts'
import { createControlPlane } from './router.ts'

export const testKey = `sk-svc-${'5a'.repeat(32)}`
export const strangerKey = `sk-svc-${'6b'.repeat(32)}`
export const stranger = 'acct_stranger' as AccountId

export const target = { model: 'openai/gpt-5' }

/** A dollar for a million tokens of any kind, and only what this table has priced is compared. */
const testPrices: Prices = {
  source: () => 'test@1',
  recompute: ({ usage, cost }) => {
    if (cost?.source != null && cost.source !== 'test@1') return undefined
    if (usage === null) return { nanoUsd: null, status: 'unknown', source: null }
    return {
      nanoUsd: (usage.inputTokens + usage.outputTokens) * 1_000,
      status: 'exact',
      source: 'test@1',
    }
  },
  estimateAt: ({ usage }) => usage && (usage.inputTokens + usage.outputTokens) * 10_000,
  knownAt: ({ usage }, target) => {
    const nanoUsd = { 'openai/gpt-5': 1_000, 'openai/gpt-5-mini': 100, 'openai/free': 0 }[target]
    if (usage === null || nanoUsd === undefined) return undefined
    return (usage.inputTokens + usage.outputTokens) * nanoUsd
  },
  keepEntries: async () => {},
  partsOf: ({ usage, cost }) =>
    usage === null || cost?.source !== 'test@1'
      ? undefined
      : [
          { kind: 'input', count: usage.inputTokens, usdPerMillion: 1 },
          { kind: 'output', count: usage.outputTokens, usdPerMillion: 1 },
        ],
}

const providers = ['mistral', 'openai'].map((id) => ({
  id,
  name: id,
  docs: `https://${id}.test/docs`,
  dialects: ['openai-chat'],
  configured: id === 'openai',
  hasAddress: true,
}))

export interface Call {
  readonly method?: string
  readonly url: string
  /** An object is sent as JSON, text and bytes as they are. */
  readonly body?: unknown
  /** An empty value takes a header away. */
  readonly headers?: Record<string, string>
  /** Of the client; absent: unknown. */
  readonly address?: string
}

export interface Scenario extends Call {
  readonly name: string
  readonly status: number
  /** Texts that the answer must hold, and must not. */
  readonly holds?: readonly string[]
  readonly hides?: readonly string[]
}

/** The short form: name, method and address, body, status, what the answer's text must hold. */
export type Row = readonly [
  name: string,
  request: string,
  body: unknown,
  status: number,
  ...holds: string[],
]

/**
 * Has one gate, `demo`. The clock starts at 2026-01-02T03:04:05.006Z and ticks with each look at
 * it.
 */
async function start(rates?: Pick<RequestRatesOptions, 'perAccount' | 'perAddress'>) {
  /** The node's memory of a target: account, a space, its name. */
  const seen = new Map<string, SeenTarget>()
  /** How the next test of a provider key goes. */
  const probe: { result: ProviderKeyProbe } = {
    result: { status: 'accepted', httpStatus: 200, detail: 'openai accepted the key (HTTP 200).' },
  }
  const time = { now: Date.parse('2026-01-02T03:04:05.006Z') }
  const clock = { now: () => time.now++ }
  const failures: GatewayError[] = []
  /** Accounts whose limits were raised. */
  const raised: AccountId[] = []
  const store = await openMigratedStore()
  const limitsOf = createKeyLimits(createPlans())
  const stops: StopRegistry = await StopRegistry.load({
    stops: store.stops,
    clock,
    onChanged: (accountId, id) => keys.renewStops(accountId, id),
  })
  const keys = await KeyRegistry.load({ keys: store.keys, stops, limitsOf, clock })
  const gates = await GateRegistry.load({ gates: store.gates, clock })
  const modelPrices = await ModelPriceRegistry.load({
    prices: store.modelPrices,
    onChanged: () => {},
    clock,
  })
  const vault = createVault([new Secret('7c'.repeat(32))])
  const attribution = await AttributionRegistry.load({
    attribution: store.attribution,
    vault,
    mayEncrypt: () => true,
    onFailure: (error) => {
      throw error
    },
  })
  const ownedModels = await OwnedModelRegistry.load({
    ownedModels: store.ownedModels,
    vault,
    clock,
  })
  const providerKeys = await ProviderKeyRegistry.load({
    keys: store.providerKeys,
    vault,
    platform: new Map(),
    clock,
  })
  keys.addEphemeral(new Secret(testKey), { accountId: DEFAULT_ACCOUNT, name: 'test' })
  keys.addEphemeral(new Secret(strangerKey), { accountId: stranger, name: 'stranger' })
  // Requests leave no time of use, which would differ from test to test.
  const ports = { keys: { find: keys.find.bind(keys), touch: () => {} }, clock }
  const onFailure = (error: GatewayError) => void failures.push(error)
  const { calls, auditLog } = store
  const { accounts, members, invitations, users } = store
  const identity = createIdentity({
    store,
    settings: { signUp: 'open', publicOrigin: undefined, oidc: undefined },
    masterKey: () => new Secret('5a'.repeat(32)),
    report: (message, cause) => {
      throw new Error(message, { cause })
    },
  })
  const callerOfUser = (accountId: AccountId, userId: UserId): Caller => ({
    accountId,
    keyId: userId as string as KeyId,
    limits: limitsOf(accountId),
    stop: stops.find(accountId, userId),
  })
  const testGate = async (_caller: Caller, gate: Gate) =>
    gate.targets.map(({ model }) => ({
      target: model,
      status: 'ok' as const,
      httpStatus: 200,
      latencyMs: 3,
      dialect: 'openai-chat' as const,
    }))
  const resources = {
    gates,
    ownedModels,
    keys,
    stops,
    providerKeys,
    calls,
    auditLog,
    attribution,
    accounts,
    members,
    invitations,
    users,
    providers,
  }
  const usage = new UsageLimits({ plans: createPlans() })
  const budgets = await BudgetRegistry.load({ budgets: store.budgets, usage, clock })
  const webhooks = await WebhookRegistry.load({ webhooks: store.webhooks, vault, clock })
  const guard = new AddressGuard({
    trustedHosts: new TrustedHosts([]),
    resolve: async () => ['93.184.215.14'],
  })
  const controlPlane = createControlPlane({
    ...resources,
    identity,
    callerOfUser,
    operatorAccount: DEFAULT_ACCOUNT,
    raiseLimits: async (accountId) => void raised.push(accountId),
    hasOperatorApi: true,
    modelPrices: {
      find: (target) => modelPrices.find(DEFAULT_ACCOUNT, target),
      sourceOf: (target) => (target === 'openai/gpt-5' ? 'prices@1' : undefined),
      set: (thing, price) => modelPrices.set(thing, price),
      delete: (thing) => modelPrices.delete(thing),
    },
    reload: async () => ({ id: 'reload_test', nodes: [] }),
    endCalls: async () => ({ callsEnded: 0, nodesNotHeard: 0 }),
    budgets,
    webhooks,
    sessions: store.sessions,
    endUsers: store.endUsers,
    nameHashes: attribution,
    callerNames: store.callerNames,
    plain: await loadPlainRegistries(store.plain, { clock }),
    testWebhook: async () => ({ delivered: false, status: 500, detail: 'answered 500' }),
    probeProviderKey: async () => probe.result,
    checkAddress: async () => undefined,
    checkWebhookAddress: (url) => guard.check(url),
    checkOwnedModel: async (model) => {
      const probe = {
        status: 'reachable',
        checkedAt: clock.now(),
        latencyMs: 7,
        httpStatus: 200,
      } as const
      return (await ownedModels.noteProbe(model, probe)) ?? model
    },
    whenCounted: () => usage.whenCounted(),
    quotaOf: (accountId) => usage.quotaOf(accountId, clock.now()),
    factsOf: (target) => (target === 'sandbox/known' ? { contextTokens: 1000 } : undefined),
    rulesOf: createRulesOf(catalog, () => NO_OVERLAY),
    modelsOf: (providerId) =>
      providerId === 'openai'
        ? [
            {
              id: 'gpt-5',
              ...{ name: 'GPT-5', contextTokens: undefined },
              ...{ inputUsdPerMillion: undefined, outputUsdPerMillion: undefined },
            },
            ...['o1', 'org/gpt-oss'].map((id) => ({
              ...{ id, name: undefined, contextTokens: undefined },
              ...{ inputUsdPerMillion: undefined, outputUsdPerMillion: undefined },
            })),
          ]
        : [],
    describeModel: (target) => ({
      inputUsdPerMillion: target === 'openai/gpt-5' ? 1.25 : undefined,
      cachedInputUsdPerMillion: undefined,
      outputUsdPerMillion: target === 'openai/gpt-5' ? 10 : undefined,
      priceSource: target === 'openai/gpt-5' ? 'prices@1' : undefined,
      priceFrom: undefined,
      isPriceEstimated: false,
      isAlias: false,
      retiresOn: target === 'openai/o1' ? '2027-03-01' : undefined,
      facts: target.startsWith('openai/') ? { contextTokens: 400_000 } : undefined,
    }),
    seenSinceMs: Date.parse('2026-01-01T12:00:00Z'),
    seenOf: (accountId, name) => seen.get(`${accountId} ${name}`),
    bodyTime: { clock: systemClock, timeoutMs: 60_000 },
    retention: { callLogDays: 30, hourlySumsDays: 90, auditLogDays: 365 },
    authenticate: (headers, address) => authenticate(ports, headers, () => address),
    requestRates: rates && new RequestRates({ ...rates, clock: { elapsed: () => time.now } }),
    testGate,
    serveChat: async () => new Response(null, { status: 204 }),
    onFailure,
    usage: store.usage,
    prices: testPrices,
  })
  const demo = {
    id: 'demo' as GateId,
    description: '',
    targets: [target],
    timeoutMs: 1000,
    maxRetries: 1,
  }
  await gates.create(DEFAULT_ACCOUNT, demo)
  return {
    attribution,
    budgets,
    time,
    seen,
    probe,
    failures,
    raised,
    store,
    keys,
    stops,
    providerKeys,
    gates,
    ownedModels,
    usage,
    webhooks,
    controlPlane,
  }
}

/** A fresh one for every test of the file. */
export function useControlPlane(rates?: Parameters<typeof start>[0]) {
  let current: Awaited<ReturnType<typeof start>>
  beforeEach(async () => {
    current = await start(rates)
  })
  afterEach(async () => {
    await current.keys.close()
    await current.providerKeys.close()
    await current.store.close()
  })

  async function send({
    method = 'GET',
    url,
    body,
    headers = {},
    address,
  }: Call): Promise<Response> {
    const isRaw =
      typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
    const request = new Request(`http://gatehouse.test${url}`, {
      method,
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    })
    for (const [name, value] of Object.entries(headers))
      if (value === '') request.headers.delete(name)
    return current.controlPlane.handle(request, 'req_test' as CallId, address)
  }

  async function sendForJson(call: Call): Promise<Record<string, unknown>> {
    return (await (await send(call)).json()) as Record<string, unknown>
  }

  function check(scenarios: readonly (Scenario | Row)[]): void {
    for (const each of scenarios) {
      const scenario = 'name' in each ? each : toScenario(each)
      test(`${scenario.name} → ${scenario.status}`, async () => {
        const response = await send(scenario)
        const text = await response.text()
        expect({ status: response.status, text }).toMatchObject({ status: scenario.status })
        for (const part of scenario.holds ?? []) expect(text).toContain(part)
        for (const part of [...(scenario.hides ?? []), testKey.slice(0, 20)])
          expect(text).not.toContain(part)
        expect(response.headers.get('x-request-id')).toBe('req_test')
        expect(response.headers.get('cache-control')).toBe('no-store')
        if (scenario.status >= 400) {
          expect(response.headers.get('content-type')).toBe('application/json')
          expect(JSON.parse(text)).toMatchObject({
            error: expect.any(String),
            message: expect.any(String),
          })
        }
        expect(current.failures).toEqual([])
      })
    }
  }

  return { send, sendForJson, check, current: () => current }
}

function toScenario([name, request, body, status, ...holds]: Row): Scenario {
  const space = request.indexOf(' ')
  return {
    name,
    method: request.slice(0, space),
    url: request.slice(space + 1),
    body,
    status,
    holds,
  }
}
