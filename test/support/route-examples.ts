/**
 * For tests that walk every route of the OpenAPI document: a valid body for each operation, and how
 * to create a resource for each path. A missing entry fails those tests.
 */
import { Browser } from './browser.ts'
import { createGate, waitForLogRow } from './control-plane.ts'

/** An account as seen from outside: its key, its owner's browser, and one resource of each kind. */
export interface Tenant {
  readonly url: string
  readonly key: string
  readonly browser: Browser
  readonly ids: ReadonlyMap<string, string>
  readonly marks: readonly string[]
}

const password = 'correct horse battery staple'

/** At an address that the server has to trust, and where nothing listens. */
const ownedModel = (slug: string) => ({
  slug,
  dialect: 'openai-chat',
  baseUrl: 'http://127.0.0.1:9/v1',
  upstreamModelId: 'example',
  credential: 'example-credential-of-a-model',
  pricingInput: 1,
  pricingOutput: 1,
})

/** Bodies that the gateway accepts, by tenant. */
export const exampleBodies: Readonly<Record<string, (gateId: string) => object>> = {
  createGate: () => ({ id: `made-${crypto.randomUUID()}`, targets: [{ model: 'sandbox/echo' }] }),
  updateGate: () => ({ displayName: 'Changed by a stranger' }),
  testGate: () => ({}),
  reload: () => ({}),
  setModelPrice: () => ({ prices: [{ input: 5, output: 25 }] }),
  createKey: () => ({ name: 'example' }),
  updateKey: () => ({ name: 'Changed by a stranger' }),
  createAccessToken: () => ({ name: 'example' }),
  updateAccessToken: () => ({ name: 'Changed by a stranger' }),
  rotateAccessToken: () => ({ oldEndsInSeconds: 0 }),
  stopAccessToken: () => ({ reason: 'Stopped by a stranger' }),
  stopMember: () => ({ reason: 'Stopped by a stranger' }),
  rotateKey: () => ({ oldEndsInSeconds: 0 }),
  importKey: () => ({ name: 'example', key: `legacy_${crypto.randomUUID()}` }),
  setProviderKey: () => ({ key: 'example-key-for-a-provider' }),
  updateProviderKey: () => ({ active: false }),
  verifyCosts: () => ({}),
  createBudget: (gateId) => ({ gateId, limitTokens: 1_000_000, period: 'month' }),
  updateBudget: () => ({ name: 'Changed by a stranger' }),
  simulateBudget: (gateId) => ({ gateId, limitTokens: 1_000_000, period: 'month' }),
  createWebhook: () => ({ url: 'https://hooks.example.com/x', events: ['budget.exhausted'] }),
  updateWebhook: () => ({ active: false }),
  testWebhook: () => ({}),
  createTag: () => ({ name: `made-${crypto.randomUUID()}` }),
  updateTag: () => ({ description: 'Changed by a stranger' }),
  createOwnedModel: () => ownedModel(`made-${crypto.randomUUID()}`),
  updateOwnedModel: () => ({ displayName: 'Changed by a stranger' }),
  updateAccount: () => ({ name: 'Example' }),
  updateAttribution: () => ({ sessions: true }),
  updateMember: () => ({ role: 'owner' }),
  createInvitation: () => ({ email: `${crypto.randomUUID()}@example.test` }),
  signUp: () => ({ email: `${crypto.randomUUID()}@example.test`, name: 'Example', password }),
  signIn: () => ({ email: 'nobody@example.test', password }),
  changePassword: () => ({ currentPassword: password, newPassword: password }),
  beginOidc: () => ({ returnTo: '/' }),
  getInvitationOffer: () => ({ invitation: 'inv-of-nobody' }),
  createResponse: (model) => ({ model, input: 'x' }),
  createChatCompletion: (model) => ({ model, messages: [{ role: 'user', content: 'x' }] }),
  createMessage: (model) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
  countMessageTokens: (model) => ({ model, messages: [{ role: 'user', content: 'x' }] }),
  createEmbeddings: (model) => ({ model, input: 'x' }),
  createChat: (gateId) => ({ gate_id: gateId, messages: [{ role: 'user', content: 'x' }] }),
  createPlaygroundChat: (gateId) => ({
    gate_id: gateId,
    messages: [{ role: 'user', content: 'x' }],
  }),
  createFimCompletion: (model) => ({ model, prompt: 'x' }),
  createAltChatCompletion: (model) => ({ model, messages: [{ role: 'user', content: 'x' }] }),
}

export const exampleQueries: Readonly<Record<string, string>> = {
  exportLogs: '?format=ndjson',
  exportUsage: '?format=focus',
  findEndUser: '?name=person-of-many',
}

/**
 * Path templates whose parameter every account may use for its own resource: a name that
 * `fillTenant` has used, and a free name.
 */
export const sharedNames: ReadonlyMap<string, { readonly taken: string; readonly free: string }> =
  new Map([
    ['/v1/provider-keys/{provider}', { taken: 'openai', free: 'mistral' }],
    ['/v1/account/end-users/{name}', { taken: 'person-of-many', free: 'person-of-nobody' }],
    ['/v1/owned-models/{slug}', { taken: 'model-of-many', free: 'model-of-nobody' }],
    ['/v1/owned-models/{slug}/credential', { taken: 'model-of-many', free: 'model-of-nobody' }],
    ['/v1/owned-models/{slug}/probe', { taken: 'model-of-many', free: 'model-of-nobody' }],
  ])

/**
 * Creates one resource of each kind in an account.
 * @param headers such as the account's key
 */
export async function fillTenant(
  url: string,
  name: string,
  headers: Readonly<Record<string, string>>,
): Promise<Tenant> {
  const browser = new Browser(url)
  const email = `${name}-owner@example.test`
  const body = { email, name: `${name} owner`, password }
  const session = await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
  const { key, id: keyId } = (await browser.json('/v1/keys', 201, {
    method: 'POST',
    body: { name: `${name} key` },
  })) as { key: string; id: string }
  const { id: tokenId } = (await browser.json('/v1/access-tokens', 201, {
    method: 'POST',
    body: { name: `${name} token` },
  })) as { id: string }
  const server = { url, key }
  const gateId = await createGate(server, `${name}-gate`, 'sandbox/echo')
  const { maskedKey } = (await browser.json('/v1/provider-keys/openai', 201, {
    method: 'PUT',
    body: { key: `${name}-own-key-for-a-provider-${name}` },
  })) as { maskedKey: string }
  const { id: budgetId } = (await browser.json('/v1/budgets', 201, {
    method: 'POST',
    body: { name: `${name} budget`, gateId, limitTokens: 1_000_000, period: 'month' },
  })) as { id: string }
  const { id: webhookId } = (await browser.json('/v1/webhooks', 201, {
    method: 'POST',
    body: { url: `https://hooks.example.com/${name}`, events: ['budget.exhausted'], active: false },
  })) as { id: string }
  const { id: tagId } = (await browser.json('/v1/tags', 201, {
    method: 'POST',
    body: { name: `${name}-tag` },
  })) as { id: string }
  await browser.json('/v1/owned-models', 201, {
    method: 'POST',
    body: { ...ownedModel('model-of-many'), displayName: `${name} model` },
  })
  await browser.json('/v1/account/attribution', 200, {
    method: 'PATCH',
    body: { endUsers: true, peopleFigures: 'administrators' },
  })
  const call = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-gatehouse-user': 'person-of-many',
      'x-gatehouse-session': `${name}-conversation`,
    },
    body: JSON.stringify({ model: gateId, input: 'x' }),
  })
  const callId = call.headers.get('x-request-id') ?? ''
  await call.body?.cancel()
  const { session: sessionId } = (await waitForLogRow(server, callId)) as { session?: string }
  const invitation = (await browser.json('/v1/invitations', 201, {
    method: 'POST',
    body: { email: `${name}-guest@example.test` },
  })) as { id: string; token: string }
  const guest = new Browser(url)
  const joined = (await guest.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body: {
      email: `${name}-guest@example.test`,
      name: `${name} guest`,
      password,
      invitation: invitation.token,
    },
  })) as { user: { id: string } }
  const sessions = (await browser.json('/v1/sessions', 200)) as { data: { id: string }[] }
  const ids = new Map([
    ['/v1/gates/{id}', gateId],
    ['/v1/gates/{id}/test', gateId],
    ['/v1/gates/{id}/stops', gateId],
    ['/v1/gates/{id}/stops/{kind}/{head}', gateId],
    ['/v1/models/{id}', gateId],
    ['/alt/v1/models/{id}', gateId],
    ['/v1/keys/{id}', keyId],
    ['/v1/keys/{id}/rotate', keyId],
    ['/v1/access-tokens/{id}', tokenId],
    ['/v1/access-tokens/{id}/rotate', tokenId],
    ['/v1/access-tokens/{id}/stop', tokenId],
    ['/v1/logs/{id}', callId],
    ['/v1/usage/sessions/{id}', sessionId ?? ''],
    ['/v1/budgets/{id}', budgetId],
    ['/v1/budgets/{id}/heads', budgetId],
    ['/v1/budgets/{id}/stops', budgetId],
    ['/v1/budgets/{id}/stops/{kind}/{head}', budgetId],
    ['/v1/webhooks/{id}', webhookId],
    ['/v1/webhooks/{id}/test', webhookId],
    ['/v1/tags/{id}', tagId],
    ['/v1/members/{id}', joined.user.id],
    ['/v1/members/{id}/stop', joined.user.id],
    ['/v1/invitations/{id}', invitation.id],
    ['/v1/sessions/{id}', sessions.data[0]?.id ?? ''],
  ])
  const { account, user } = session as { account: { id: string }; user: { id: string } }
  const marks = [
    ...ids.values(),
    account.id,
    user.id,
    email,
    `${name} key`,
    `${name} budget`,
    `${name}-tag`,
    `hooks.example.com/${name}`,
    `${name} model`,
    `${name}-guest`,
    key.slice(0, 20),
    maskedKey,
  ]
  return { url, key, browser, ids, marks }
}
