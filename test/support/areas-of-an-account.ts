/**
 * Walks through everything that a key may do in its account, area by area. Deletes everything it
 * creates, so the walk can be repeated.
 */
import { type ControlPlane, controlPlaneCall, waitForLogRow } from './control-plane.ts'
import { DIALECTS } from './dialect-table.ts'

/** @returns the steps with unexpected answers */
type Walk = (server: ControlPlane) => Promise<readonly string[]>

type Step = readonly [method: string, path: string, status: number, body?: unknown]

const GATE = 'walked-gate'

/** @param upstreamUrl where an owned model answers its probe */
export function areasOfAnAccount(upstreamUrl: string): readonly (readonly [string, Walk])[] {
  const target = [{ model: 'openai/gpt-4o' }]
  const ownedModel = {
    slug: 'walked-model',
    dialect: 'openai-chat',
    baseUrl: upstreamUrl,
    upstreamModelId: 'served-model',
    credential: 'walked-credential',
    pricingInput: 1,
    pricingOutput: 1,
  }
  return [
    ['inference through gates', walkGates],
    [
      'reading and changing gates',
      steps([
        ['POST', '/v1/gates', 201, { id: GATE, targets: target }],
        ['GET', '/v1/gates', 200],
        ['GET', `/v1/gates/${GATE}`, 200],
        ['PATCH', `/v1/gates/${GATE}`, 200, { displayName: 'Walked' }],
        ['POST', `/v1/gates/${GATE}/test`, 200, {}],
        ['DELETE', `/v1/gates/${GATE}`, 204],
      ]),
    ],
    [
      'reading and changing configuration: owned models',
      steps([
        ['POST', '/v1/owned-models', 201, ownedModel],
        ['GET', '/v1/owned-models', 200],
        ['GET', '/v1/owned-models/walked-model', 200],
        ['PATCH', '/v1/owned-models/walked-model', 200, { credential: 'another' }],
        ['DELETE', '/v1/owned-models/walked-model', 204],
      ]),
    ],
    [
      'reading and changing configuration: provider keys',
      steps([
        ['PUT', '/v1/provider-keys/groq', 201, { key: 'walked-provider-key' }],
        ['GET', '/v1/provider-keys', 200],
        ['PATCH', '/v1/provider-keys/groq', 200, { active: false }],
        ['DELETE', '/v1/provider-keys/groq', 204],
        ['GET', '/v1/providers', 200],
      ]),
    ],
    [
      'reading and changing configuration: the account',
      steps([
        ['GET', '/v1/account', 200],
        ['PATCH', '/v1/account', 200, { name: 'Walked' }],
        ['GET', '/v1/budgets', 200],
        ['GET', '/v1/webhooks', 200],
        ['GET', '/v1/tags', 200],
        ['GET', '/v1/members', 200],
        ['GET', '/v1/invitations', 200],
      ]),
    ],
    ['managing keys', walkKeys],
    ['reading usage logs and analytics', walkUsage],
  ]
}

function steps(list: readonly Step[]): Walk {
  return async (server) => {
    const refused: string[] = []
    for (const step of list) refused.push(...(await take(server, step)))
    return refused
  }
}

async function take(
  server: ControlPlane,
  [method, path, status, body]: Step,
): Promise<readonly string[]> {
  const response = await controlPlaneCall(server, method, path, body)
  const text = await response.text()
  return response.status === status ? [] : [`${method} ${path}: ${response.status} ${text}`]
}

async function walkGates(server: ControlPlane): Promise<readonly string[]> {
  const calls = DIALECTS.map(
    (row): Step => ['POST', row.path, 200, { model: row.gate, ...row.fields }],
  )
  const messages = [{ role: 'user', content: 'hi' }]
  return await steps([
    ...calls,
    ['POST', '/v3/chat', 200, { gate_id: 'chat-gate', messages }],
    ['GET', '/v1/models', 200],
  ])(server)
}

async function walkKeys(server: ControlPlane): Promise<readonly string[]> {
  const response = await controlPlaneCall(server, 'POST', '/v1/keys', { name: 'made on the way' })
  const made = (await response.json()) as { id: string; key: string }
  return [
    ...(response.status === 201 ? [] : [`POST /v1/keys: ${response.status}`]),
    ...(await take(server, ['GET', '/v1/keys', 200])),
    ...(await take({ ...server, key: made.key }, ['GET', '/v1/keys', 200])),
    ...(await take({ ...server, key: made.key }, ['DELETE', `/v1/keys/${made.id}`, 200])),
    ...(await take({ ...server, key: made.key }, ['GET', '/v1/keys', 401])),
  ]
}

async function walkUsage(server: ControlPlane): Promise<readonly string[]> {
  const body = { gate_id: 'chat-gate', messages: [] }
  const call = await controlPlaneCall(server, 'POST', '/v1/chat/completions', body)
  await call.text()
  const { id } = await waitForLogRow(server, call.headers.get('x-request-id'))
  return await steps([
    ['GET', '/v1/logs', 200],
    ['GET', `/v1/logs/${id}`, 200],
    ['GET', '/v1/logs/export?format=ndjson', 200],
    ['GET', '/v1/analytics?interval=all&group_by=key', 200],
    ['POST', '/v1/costs/verify', 200, {}],
    ['POST', '/v1/budgets/simulate', 200, { gateId: 'chat-gate', limitUsd: 1, period: 'day' }],
    ['GET', '/v1/audit-log', 200],
  ])(server)
}
