/**
 * The account that is in the pictures: gates, keys, an owned model, budgets, people. Made over
 * HTTP, as its users would.
 */
import { controlPlaneCall, createKey } from '../support/control-plane.ts'
import type { Gatehouse } from '../support/start-gatehouse.ts'

const GATES = [
  {
    id: 'assistant',
    displayName: 'Assistant',
    description: 'Answers in the product. The second target takes over when the first is down.',
    targets: [{ model: 'openai/gpt-5-mini' }, { model: 'anthropic/claude-sonnet-4-5' }],
    defaults: { maxOutputTokens: 2_000, reasoningEffort: 'low' },
    hedgeAfterMs: 8_000,
  },
  {
    id: 'codestral',
    displayName: 'Code completion',
    description: 'For the editor plug-in.',
    targets: [{ model: 'mistral/codestral-latest' }],
  },
  {
    id: 'support-bot',
    displayName: 'Support bot',
    description: 'A tenth of the traffic tries the newer model.',
    strategy: 'weighted',
    targets: [
      { model: 'anthropic/claude-haiku-4-5', weight: 9 },
      { model: 'gemini/gemini-2.5-flash', weight: 1 },
    ],
  },
  {
    id: 'coding',
    displayName: 'Coding agents',
    description: 'Claude Code, Codex and opencode of the developers.',
    targets: [{ model: 'anthropic/claude-sonnet-4-5' }, { model: 'openai/gpt-5' }],
  },
  {
    id: 'research',
    displayName: 'Research',
    description: 'Long context. On the account’s own key.',
    targets: [{ model: 'gemini/gemini-2.5-pro' }, { model: 'openai/gpt-5' }],
  },
]

async function make(
  gatehouse: Gatehouse,
  method: string,
  path: string,
  body: unknown,
): Promise<void> {
  const response = await controlPlaneCall(gatehouse, method, path, body)
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
}

/** @returns the ids of its keys, by name */
export async function makeDemoAccount(gatehouse: Gatehouse): Promise<ReadonlyMap<string, string>> {
  await make(gatehouse, 'PATCH', '/v1/account', { name: 'Example Ltd' })
  for (const gate of GATES) await make(gatehouse, 'POST', '/v1/gates', gate)
  await make(gatehouse, 'POST', '/v1/owned-models', {
    slug: 'house-llama',
    displayName: 'Llama on our own machines',
    dialect: 'openai-chat',
    baseUrl: 'http://127.0.0.1:9/v1',
    upstreamModelId: 'llama-3.3-70b-instruct',
    credential: 'not-a-real-credential',
    pricingInput: 20,
    pricingOutput: 60,
    pricingCachedInput: 5,
  })
  await make(gatehouse, 'POST', '/v1/gates', {
    id: 'private',
    displayName: 'Private',
    description: 'What must not leave the house.',
    targets: [{ model: 'owned/house-llama' }],
  })
  await make(gatehouse, 'PUT', '/v1/provider-keys/gemini', { key: 'not-a-real-provider-key-000' })
  const keys = new Map<string, string>()
  for (const name of ['production', 'editor plug-in', 'notebooks', 'CI', 'coding agents']) {
    keys.set(name, (await createKey(gatehouse, name)).id)
  }
  await make(gatehouse, 'POST', '/v1/budgets', {
    name: 'Research, monthly',
    gateId: 'research',
    limitUsd: 400,
    period: 'month',
    alertAt: [0.5, 0.8],
  })
  await make(gatehouse, 'POST', '/v1/budgets', {
    name: 'Notebooks, daily',
    keyId: keys.get('notebooks'),
    limitTokens: 5_000_000,
    period: 'day',
    alertAt: [0.8],
  })
  await make(gatehouse, 'POST', '/v1/budgets', {
    name: 'Each developer, monthly',
    scope: 'each-user',
    limitUsd: 60,
    period: 'month',
  })
  await make(gatehouse, 'PATCH', '/v1/account/attribution', {
    endUsers: true,
    peopleFigures: 'owner',
  })
  await make(gatehouse, 'POST', '/v1/invitations', { email: 'grace@example.com' })
  return keys
}

/** Some calls that really happen, so that the newest rows and what is known of targets are true. */
export async function callTheSandbox(gatehouse: Gatehouse): Promise<void> {
  const failing = {
    id: 'resilient',
    displayName: 'Resilient',
    targets: [{ model: 'sandbox/500' }, { model: 'sandbox/echo' }],
  }
  await make(gatehouse, 'POST', '/v1/gates', failing)
  for (const model of ['demo', 'resilient', 'demo', 'resilient', 'demo']) {
    const response = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Hello' }],
    })
    await response.arrayBuffer()
  }
}
