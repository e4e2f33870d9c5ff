/**
 * For the test that walks every route of the OpenAPI document: what a change by each operation
 * leaves in the audit log, or why it leaves nothing. A missing entry fails that test.
 */
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import { Browser } from './browser.ts'
import {
  type ControlPlane,
  controlPlaneCall,
  createGate,
  createKey,
  waitForLogRow,
} from './control-plane.ts'
import { exampleBodies } from './route-examples.ts'

export interface Scene {
  readonly server: ControlPlane
  readonly gateId: string
  owner: Browser
  guest: Browser
}

export interface AuditedRoute {
  readonly action: string
  readonly by?: 'owner' | 'visitor'
  readonly prepare?: (scene: Scene) => Promise<string>
  readonly body?: (gateId: string, scene: Scene) => object | Promise<object>
  readonly idOf?: (answer: Readonly<Record<string, unknown>>, idInPath: string) => string
  readonly leave?: (scene: Scene) => void | Promise<void>
  /** The changed thing has no version, so `if-match` cannot name one. */
  readonly hasNoVersion?: true
}

const password = 'correct horse battery staple'

const makeGate = ({ server }: Scene) =>
  createGate(server, `audited-${crypto.randomUUID()}`, 'sandbox/echo')

export const auditedRoutes: Readonly<Record<string, AuditedRoute>> = {
  createGate: { action: 'gate.create' },
  updateGate: { action: 'gate.update', prepare: makeGate },
  deleteGate: { action: 'gate.delete', prepare: makeGate },
  createAccessToken: { action: 'key.create' },
  updateAccessToken: {
    action: 'key.update',
    prepare: async ({ server }) => await makeToken(server),
  },
  rotateAccessToken: {
    action: 'key.rotate',
    prepare: async ({ server }) => await makeToken(server),
  },
  deleteAccessToken: {
    action: 'key.delete',
    prepare: async ({ server }) => await makeToken(server),
  },
  stopAccessToken: {
    action: 'stop.create',
    prepare: ({ server }) => makeToken(server),
    idOf: (_, idInPath) => idInPath,
  },
  liftAccessTokenStop: {
    action: 'stop.delete',
    prepare: async ({ server }) => await stop(server, 'access-tokens', await makeToken(server)),
  },
  createKey: { action: 'key.create' },
  importKey: { action: 'key.import' },
  updateKey: {
    action: 'key.update',
    prepare: async ({ server }) => (await createKey(server, 'audited')).id,
  },
  rotateKey: {
    action: 'key.rotate',
    prepare: async ({ server }) => (await createKey(server, 'audited')).id,
  },
  deleteKey: {
    action: 'key.delete',
    prepare: async ({ server }) => (await createKey(server, 'audited')).id,
  },
  setProviderKey: { action: 'provider-key.create', prepare: async () => 'sandbox' },
  updateProviderKey: { action: 'provider-key.update', prepare: setProviderKey },
  deleteProviderKey: { action: 'provider-key.delete', prepare: setProviderKey },
  setModelPrice: { action: 'model-price.create', prepare: async () => 'openai', idOf: toModel },
  deleteModelPrice: { action: 'model-price.delete', prepare: setModelPrice, idOf: toModel },
  reload: { action: 'configuration.reload', idOf: ({ id }) => String(id) },
  updateAccount: { action: 'account.update', idOf: ({ id }) => String(id) },
  updateAttribution: { action: 'attribution.update', idOf: () => DEFAULT_ACCOUNT },
  replaceHashKey: { action: 'attribution.replace-key', idOf: () => DEFAULT_ACCOUNT },
  eraseEndUser: {
    ...{ action: 'attribution.erase', prepare: makeEndUser, hasNoVersion: true },
    // The entry has the hash in place of the name.
    idOf: ({ user }) => String(user),
  },
  updateMember: {
    action: 'member.update',
    by: 'owner',
    prepare: joinAsGuest,
    leave: (scene) => {
      scene.owner = scene.guest
    },
  },
  deleteMember: { action: 'member.delete', by: 'owner', prepare: joinAsGuest },
  stopMember: {
    action: 'stop.create',
    prepare: joinAsGuest,
    idOf: (_, idInPath) => idInPath,
  },
  liftMemberStop: {
    action: 'stop.delete',
    prepare: async (scene) => await stop(scene.server, 'members', await joinAsGuest(scene)),
  },
  createOwnedModel: { action: 'owned-model.create' },
  updateOwnedModel: { action: 'owned-model.update', prepare: makeOwnedModel },
  deleteOwnedModelCredential: { action: 'owned-model.update', prepare: makeOwnedModel },
  deleteOwnedModel: { action: 'owned-model.delete', prepare: makeOwnedModel },
  createBudget: { action: 'budget.create' },
  updateBudget: { action: 'budget.update', prepare: makeBudget },
  deleteBudget: { action: 'budget.delete', prepare: makeBudget },
  createWebhook: { action: 'webhook.create' },
  updateWebhook: { action: 'webhook.update', prepare: makeWebhook },
  deleteWebhook: { action: 'webhook.delete', prepare: makeWebhook },
  createTag: { action: 'tag.create' },
  updateTag: { action: 'tag.update', prepare: makeTag },
  deleteTag: { action: 'tag.delete', prepare: makeTag },
  createInvitation: { action: 'invitation.create' },
  deleteInvitation: {
    action: 'invitation.delete',
    prepare: async (scene) => (await invite(scene)).id,
  },
  signUp: {
    action: 'member.create',
    by: 'visitor',
    body: async (_gateId, scene) => {
      const { email, token } = await invite(scene)
      return { email, name: 'Example', password, invitation: token }
    },
    idOf: ({ user }) => (user as { id: string }).id,
  },
  changePassword: {
    action: 'user.set-password',
    by: 'owner',
    prepare: async ({ owner }) => (await session(owner)).user.id,
    body: () => ({ currentPassword: password, newPassword: `${password} again` }),
  },
}

/** Operation → the reason. Calls for inference are in the log of calls. */
export const unauditedRoutes: Readonly<Record<string, string>> = {
  testGate: 'It changes nothing: it makes calls, which are in the log of calls.',
  testWebhook: 'It changes nothing: it sends an event.',
  simulateBudget: 'It changes nothing: it reads the log of calls.',
  probeOwnedModel:
    'It changes nothing that anybody has set: it asks the model, and notes what it found.',
  verifyCosts:
    'It changes nothing unless told to, and only where costs differ: costs.test.ts reads its entry.',
  liftBudgetStop: 'As below.',
  liftGateStop: 'Only a call makes such a stop: fuses.test.ts reads its entry.',
  signIn: 'A session is not a thing of the account; who signs in changes nothing yet.',
  getInvitationOffer: 'It changes nothing: it shows.',
  beginOidc: 'As above; the user whom it may make is written down on joining.',
  signOut: "One's own session ends: nothing of the account changes.",
  deleteSession: 'As above.',
}

/** An account with an owner, who signed up with the key, and a gate. */
export async function openScene(server: ControlPlane): Promise<Scene> {
  const owner = new Browser(server.url)
  const body = { email: `${crypto.randomUUID()}@example.test`, name: 'Owner', password }
  await owner.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${server.key}` },
  })
  const gateId = await createGate(server, 'audited-scene', 'sandbox/echo')
  return { server, gateId, owner, guest: owner }
}

export function withKey(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, origin: '', 'x-gatehouse-csrf': '' }
}

function makeBudget({ server, gateId }: Scene): Promise<string> {
  return make(server, '/v1/budgets', exampleBodies.createBudget?.(gateId) ?? {})
}

function makeWebhook({ server, gateId }: Scene): Promise<string> {
  return make(server, '/v1/webhooks', exampleBodies.createWebhook?.(gateId) ?? {})
}

function makeTag({ server, gateId }: Scene): Promise<string> {
  return make(server, '/v1/tags', exampleBodies.createTag?.(gateId) ?? {})
}

async function makeOwnedModel({ server, gateId }: Scene): Promise<string> {
  const body = exampleBodies.createOwnedModel?.(gateId) as { slug: string }
  const response = await controlPlaneCall(server, 'POST', '/v1/owned-models', body)
  if (response.status !== 201)
    throw new Error(`wanted 201, got ${response.status}: ${await response.text()}`)
  return body.slug
}

async function make(server: ControlPlane, path: string, body: object): Promise<string> {
  const response = await controlPlaneCall(server, 'POST', path, body)
  if (response.status !== 201)
    throw new Error(`wanted 201, got ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { id: string }).id
}

async function setProviderKey({ server }: Scene): Promise<string> {
  const key = 'planted-provider-key-9876543210'
  await (await controlPlaneCall(server, 'PUT', '/v1/provider-keys/sandbox', { key })).body?.cancel()
  return 'sandbox'
}

/** The tests fill in only the first name of the path. */
const MODEL = '{model}'

function toModel(_: unknown, provider: string): string {
  return `${provider}/${MODEL}`
}

async function setModelPrice({ server }: Scene): Promise<string> {
  const path = `/v1/provider-models/openai/${encodeURIComponent(MODEL)}`
  const body = exampleBodies.setModelPrice?.('') ?? {}
  await (await controlPlaneCall(server, 'PUT', path, body)).body?.cancel()
  return 'openai'
}

async function invite({ server }: Scene): Promise<{ id: string; email: string; token: string }> {
  const email = `${crypto.randomUUID()}@example.test`
  const response = await controlPlaneCall(server, 'POST', '/v1/invitations', { email })
  return (await response.json()) as { id: string; email: string; token: string }
}

async function joinAsGuest(scene: Scene): Promise<string> {
  const { email, token } = await invite(scene)
  scene.guest = new Browser(scene.server.url)
  const body = { email, name: 'Guest', password, invitation: token }
  await scene.guest.json('/v1/auth/sign-up', 201, { method: 'POST', body })
  return (await session(scene.guest)).user.id
}

async function session(browser: Browser): Promise<{ user: { id: string } }> {
  return (await browser.json('/v1/session', 200)) as { user: { id: string } }
}

async function stop(server: ControlPlane, things: string, id: string): Promise<string> {
  await (await controlPlaneCall(server, 'POST', `/v1/${things}/${id}/stop`, {})).body?.cancel()
  return id
}

async function makeToken(server: ControlPlane): Promise<string> {
  const response = await controlPlaneCall(server, 'POST', '/v1/access-tokens', { name: 'audited' })
  return ((await response.json()) as { id: string }).id
}

async function makeEndUser({ server, gateId }: Scene): Promise<string> {
  await controlPlaneCall(server, 'PATCH', '/v1/account/attribution', { endUsers: true })
  const call = await fetch(`${server.url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/json',
      'x-gatehouse-user': 'customer-4711',
    },
    body: JSON.stringify({ model: gateId, input: 'x' }),
  })
  await call.body?.cancel()
  await waitForLogRow(server, call.headers.get('x-request-id') ?? '')
  return 'customer-4711'
}
