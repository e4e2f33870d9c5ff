import { expect, test } from 'bun:test'
import { type Gate, USUAL_GATE } from '../../core/gate.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import { anthropicMessages } from '../../wire/anthropic-messages/index.ts'
import type { Dialect } from '../../wire/dialect.ts'
import { gatehouseChat } from '../../wire/gatehouse-chat/index.ts'
import { scanJsonObject } from '../../wire/json-splice.ts'
import { openaiChat } from '../../wire/openai-chat/index.ts'
import { openaiResponses } from '../../wire/openai-responses/index.ts'
import { CallHeaders } from '../attempt/call-headers.ts'
import { CircuitBreakers } from '../attempt/circuit-breakers.ts'
import type { ReachableProvider } from './compile-target.ts'
import { TargetOrder } from './order-targets.ts'
import { planTargets } from './plan-targets.ts'

const vendor: ReachableProvider = {
  id: 'vendor',
  name: 'Vendor',
  docs: 'https://vendor.test',
  baseUrl: 'https://vendor.test',
  endpoints: {
    'mistral-fim': { path: '/fim' },
    'openai-responses': { path: '/responses', translatedModels: /^thinker/ },
    'openai-chat': { path: '/chat' },
    'anthropic-messages': { path: '/messages' },
  },
}
const { 'openai-responses': responses, 'mistral-fim': fim } = vendor.endpoints
const narrow: ReachableProvider = {
  ...vendor,
  id: 'narrow',
  endpoints: {
    ...(responses && { 'openai-responses': responses }),
    ...(fim && { 'mistral-fim': fim }),
  },
}

function plan(model: string, dialect: Dialect) {
  const gate: Gate = {
    accountId: DEFAULT_ACCOUNT,
    id: 'gate' as GateId,
    displayName: 'gate',
    description: '',
    targets: [{ model }],
    ...USUAL_GATE,
    timeoutMs: null,
    maxRetries: 0,
    createdAt: 0,
    updatedAt: 0,
  }
  const ports = {
    gates: { list: () => [gate] },
    credentials: {
      find: () => ({ secret: new Secret('key'), owner: 'platform' as const }),
      touch: () => {},
    },
    providers: new Map([vendor, narrow].map((provider) => [provider.id, provider])),
    ownedModels: { find: () => undefined },
    callHeaders: new CallHeaders(),
    order: new TargetOrder(new CircuitBreakers({ now: () => 0, elapsed: () => 0 })),
  }
  const caller = {
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key' as KeyId,
    limits: { requestsPerMinute: 1, tokensPerMinute: 1, concurrentCalls: 1 },
  }
  const body = scanJsonObject(Buffer.from('{"gateId":"gate"}'))
  const accepted = { body, gateId: 'gate', stream: false, ignored: [] }
  const [target] = planTargets(ports, { caller, accepted, gate, dialect }).targets
  return {
    path: target?.url.replace('https://vendor.test', ''),
    isTranslated: target?.translator !== undefined,
  }
}

test.each([
  [openaiResponses, 'talker', '/responses'],
  [openaiChat, 'thinker', '/chat'],
  [anthropicMessages, 'thinker', '/messages'],
])(
  'a dialect that the provider speaks is relayed, whatever the model: %#',
  (dialect, model, path) => {
    expect(plan(`vendor/${model}`, dialect)).toEqual({ path, isTranslated: false })
  },
)

test.each([
  ['thinker', '/responses'],
  ['talker', '/chat'],
])(
  'another one is translated to the first endpoint that takes the model: %s to %s',
  (model, path) => {
    expect(plan(`vendor/${model}`, gatehouseChat)).toEqual({ path, isTranslated: true })
  },
)

test('a model reserved for other callers is out of reach, and the error names the member with the gate', () => {
  expect(plan('narrow/thinker', openaiChat)).toEqual({ path: '/responses', isTranslated: true })
  expect(() => plan('narrow/talker', gatehouseChat)).toThrow(
    expect.objectContaining({ status: 400, code: 'provider_mismatch', param: 'gateId' }),
  )
})
