import type { OpenAPIHono } from '@hono/zod-openapi'
import type { AccountBody } from '../contract/account.ts'
import { errorBody } from '../contract/errors.ts'
import { noQuery } from '../contract/lists.ts'
import type { ProviderBody } from '../contract/providers.ts'
import type { Budget } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import type { Timekeeper } from '../core/clock.ts'
import type { ReloadedProcess } from '../core/configuration-report.ts'
import type { Cost, CostPart } from '../core/cost.ts'
import { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import type { AccountId, CallId, KeyId, SessionId, UserId } from '../core/ids.ts'
import type { KnownModel, ModelDetails } from '../core/known-model.ts'
import type { ModelFacts } from '../core/model-facts.ts'
import type { ModelPrice } from '../core/model-price.ts'
import type { OwnedModel } from '../core/owned-model.ts'
import type { ProviderKeyProbe } from '../core/provider-key.ts'
import type { Secret } from '../core/secret.ts'
import type { Webhook } from '../core/webhook.ts'
import type { SeenTarget } from '../gateway/attempt/circuit-breakers.ts'
import type { RulesOf } from '../gateway/models/rules-of-target.ts'
import type { Caller, NameHashes } from '../gateway/ports.ts'
import type { TargetTest } from '../gateway/probe/test-gate.ts'
import type { Identity, Visitor } from '../identity/identity.ts'
import type { BudgetRegistry } from '../limits/budget-registry.ts'
import type { PastPrices } from '../limits/steer-past-call.ts'
import type { QuotaState } from '../limits/usage-limits.ts'
import type { AttributionRegistry } from '../snapshots/attribution-registry.ts'
import type { GateRegistry } from '../snapshots/gate-registry.ts'
import type { KeyRegistry } from '../snapshots/key-registry.ts'
import type { ModelPriceRegistry } from '../snapshots/model-price-registry.ts'
import type { OwnedModelRegistry } from '../snapshots/owned-model-registry.ts'
import type { PlainRegistries } from '../snapshots/plain-registry.ts'
import type { ProviderKeyRegistry } from '../snapshots/provider-key-registry.ts'
import type { StopRegistry } from '../snapshots/stop-registry.ts'
import type { CallerNameStore } from '../store/calls/caller-names.ts'
import type { CallTableStore } from '../store/calls/calls.ts'
import type { AuditLogTableStore } from '../store/changes/audit-log.ts'
import type { EndUserStore } from '../store/usage/end-users.ts'
import type { SessionStore } from '../store/usage/sessions.ts'
import type { UsageStore } from '../store/usage/usage.ts'
import type { AccountTableStore } from '../store/users/accounts.ts'
import type { InvitationTableStore } from '../store/users/invitations.ts'
import type { Member, MemberTableStore } from '../store/users/members.ts'
import type { UserTableStore } from '../store/users/users.ts'
import type { WebhookRegistry } from '../webhooks/webhook-registry.ts'
import type { CheckAddress, PostOutcome } from '../webhooks/webhook-sender.ts'
import type { RequestRates } from './request-rates.ts'

export const OPENAPI_PATH = '/openapi.json'

export interface BodyTime {
  readonly clock: Pick<Timekeeper, 'after'>
  readonly timeoutMs: number
}

export interface ControlPlaneDependencies {
  readonly gates: Pick<
    GateRegistry,
    'find' | 'get' | 'list' | 'create' | 'update' | 'delete' | 'whileUnchanged'
  >
  readonly ownedModels: Pick<
    OwnedModelRegistry,
    'show' | 'list' | 'create' | 'update' | 'delete' | 'probeOf'
  >
  /**
   * Resolves when an owned model may have this address.
   * @throws GatewayError `invalid_request` naming `baseUrl`
   */
  readonly checkAddress: (baseUrl: string) => Promise<void>
  readonly checkOwnedModel: (model: OwnedModel) => Promise<OwnedModel>
  readonly keys: Pick<
    KeyRegistry,
    | 'list'
    | 'countOf'
    | 'recordOf'
    | 'create'
    | 'import'
    | 'update'
    | 'rotate'
    | 'delete'
    | 'nameOf'
    | 'deletedNamesOf'
  >
  readonly providerKeys: Pick<ProviderKeyRegistry, 'list' | 'set' | 'setActive' | 'delete'>
  /** Asks the provider, for at most a few seconds, whether the key is accepted; never rejects. */
  readonly probeProviderKey: (providerId: string, key: Secret) => Promise<ProviderKeyProbe>
  readonly auditLog: Pick<AuditLogTableStore, 'list'>
  readonly attribution: Pick<AttributionRegistry, 'settingsOf' | 'change' | 'replaceKey'>
  readonly endUsers: Pick<
    EndUserStore,
    'isStored' | 'findName' | 'readDays' | 'readSessions' | 'erase'
  >
  readonly accounts: Pick<AccountTableStore, 'find' | 'rename'>
  readonly members: Pick<
    MemberTableStore,
    'find' | 'findGiven' | 'findNamed' | 'list' | 'hasAny' | 'remove' | 'transferOwnership'
  >
  readonly invitations: Pick<
    InvitationTableStore,
    'insert' | 'find' | 'findOffer' | 'list' | 'delete'
  >
  readonly users: Pick<UserTableStore, 'listSessions' | 'deleteSession'>
  readonly identity: Identity
  /** @throws GatewayError `unavailable` (rejects) when this node may be out of date */
  readonly callerOfUser: (accountId: AccountId, userId: UserId) => Caller | Promise<Caller>
  readonly stops: Pick<StopRegistry, 'find' | 'listFused' | 'followFused' | 'stop' | 'lift'>
  /**
   * Ends the running calls of a deleted key, or of a stopped user or access token with this id.
   * Resolves when every node has done so, or may no longer serve.
   * @throws GatewayError `unavailable`
   */
  readonly endCalls: (id: string) => Promise<EndReport>
  readonly budgets: Pick<
    BudgetRegistry,
    'list' | 'get' | 'create' | 'update' | 'delete' | 'windowOf' | 'follow'
  >
  readonly webhooks: Pick<WebhookRegistry, 'list' | 'get' | 'create' | 'update' | 'delete'>
  readonly plain: PlainRegistries
  readonly testWebhook: (webhook: Webhook) => Promise<PostOutcome>
  readonly checkWebhookAddress: CheckAddress
  readonly whenCounted: (
    accountId: AccountId,
    budgets: readonly Budget[],
  ) => Promise<void> | undefined
  readonly quotaOf: (accountId: AccountId) => QuotaState
  readonly retention: AccountBody['retention']
  readonly bodyTime: BodyTime
  readonly calls: Pick<CallTableStore, 'findPage' | 'readRange' | 'find' | 'correctCosts'>
  readonly sessions: Pick<SessionStore, 'list' | 'find' | 'readCalls' | 'readAgents'>
  readonly nameHashes: Pick<NameHashes, 'hash'>
  readonly callerNames: Pick<CallerNameStore, 'find' | 'search'>
  readonly usage: Pick<
    UsageStore,
    | 'readRange'
    | 'findLastDays'
    | 'readLatencies'
    | 'readRefused'
    | 'readAnswered'
    | 'findCallsDeletedBefore'
  >
  readonly prices: Prices
  /** Raises the account's budgets and quota to the sums of its calls, where those are higher. */
  readonly raiseLimits: (accountId: AccountId) => Promise<void>
  /** Undefined: every account is a customer's. */
  readonly operatorAccount: AccountId | undefined
  /** Whether `GATEHOUSE_OPERATOR_API` is on. */
  readonly hasOperatorApi: boolean
  readonly modelPrices: ModelPrices
  /**
   * Reloads the configuration file on every node.
   * @param accountId the operator's, for the audit log
   */
  readonly reload: (
    accountId: AccountId,
  ) => Promise<{ readonly id: string; readonly nodes: readonly ReloadedProcess[] }>
  /**
   * The catalog and the operator's own providers; a gate's targets may only name these providers.
   */
  readonly providers: readonly ProviderBody[]
  /** Facts of a target `provider/model`. Undefined: nothing is known. */
  readonly factsOf: (target: string) => ModelFacts | undefined
  /** Rules for requests to a target `provider/model`. */
  readonly rulesOf: RulesOf
  readonly modelsOf: (providerId: string) => readonly KnownModel[]
  /** @param listed the model of `modelsOf`; undefined: any other model */
  readonly describeModel: (target: string, listed?: KnownModel) => ModelDetails
  readonly seenOf: (accountId: AccountId, target: string) => SeenTarget | undefined
  readonly seenSinceMs: number
  /**
   * @param address of the client; undefined when unknown
   * @throws GatewayError `unauthorized`, `forbidden` (rejects)
   */
  readonly authenticate: (headers: Headers, address: string | undefined) => Caller | Promise<Caller>
  /**
   * Resolves when the changes are in force on every node. Absent on a single node.
   * @throws GatewayError `unavailable`
   */
  readonly confirmChanges?: (() => Promise<void>) | undefined
  readonly requestRates?: RequestRates | undefined
  readonly testGate: (caller: Caller, gate: Gate) => Promise<readonly TargetTest[]>
  /** Serves a request in the gateway's own chat format as a call of the caller; never rejects. */
  readonly serveChat: (
    request: Request,
    call: { readonly caller: Caller; readonly id: CallId },
  ) => Promise<Response>
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  readonly onFailure?: (error: GatewayError, requestId: string) => void
}

/** The prices that the operator stored at run time. */
export interface ModelPrices extends Pick<ModelPriceRegistry, 'set' | 'delete'> {
  find(target: string): ModelPrice | undefined
  /** The source of a price of the configuration file or the price table. Undefined: none. */
  sourceOf(target: string): string | undefined
}

/** The outcome of ending running calls. */
export interface EndReport {
  readonly callsEnded: number
  readonly nodesNotHeard: number
}

export interface Prices extends PastPrices {
  /** The price table's name and version. */
  source(): string
  /**
   * The cost of a call; undefined when the cost stays, because its price cannot be found or must
   * not change.
   * @param wrong sources of costs whose entry was wrong
   */
  recompute(call: CallRecord, wrong: readonly string[]): Cost | undefined
  partsOf(call: CallRecord): readonly CostPart[] | undefined
  /** Stores the entries of recomputed costs, before these costs are stored. */
  keepEntries(): Promise<void>
}

export interface AnsweredRequest {
  readonly requestId: string
  readonly method: string
  readonly path: string | null
  readonly status: number
  readonly actor: string | null
  readonly durationMs: number
}

/** Calls of a user, such as the test of a gate, count under the user's id. */
export interface ControlPlaneCaller extends Caller {
  readonly actor: Actor
}

/** The caller as named in the audit log. Some changes require a certain kind of actor. */
export type Actor =
  | { readonly type: 'key'; readonly keyId: KeyId }
  | {
      readonly type: 'user'
      readonly userId: UserId
      readonly sessionId: SessionId
      readonly member: Member
      readonly sessionExpiresAt: number
    }

/** The content of `c.env` in a handler. The caller is absent only on public routes. */
export interface ControlPlaneBindings {
  readonly requestId: CallId
  readonly caller?: ControlPlaneCaller
  readonly request: Request
  readonly clientAddress: string | undefined
}

export type ControlPlaneApp = OpenAPIHono<{ Bindings: ControlPlaneBindings }>

export function callerOf(bindings: ControlPlaneBindings): ControlPlaneCaller {
  // Unreachable, because the router authenticates first. Fails rather than serving the wrong
  // account.
  if (bindings.caller === undefined) throw new Error('a handler ran without a caller')
  return bindings.caller
}

export function actorId(actor: Actor): string {
  return actor.type === 'key' ? actor.keyId : actor.userId
}

/**
 * Refuses callers who must not give access to anyone: holders of an access token, and of a rotated
 * key's previous text, which may have leaked. Called before a key, a member or a user is created.
 * @throws GatewayError `forbidden`
 */
export function assertMayGiveAccess({
  isOldText,
  token,
}: Pick<ControlPlaneCaller, 'isOldText' | 'token'>): void {
  if (token !== undefined) throw onlyCalls()
  if (isOldText === true)
    throw new GatewayError(
      'forbidden',
      'This key was rotated. The old key cannot sign anyone in until it expires: use the new one.',
    )
}

export function onlyCalls(): GatewayError {
  return new GatewayError(
    'forbidden',
    'An access token can only call gates and read its own usage. Use an API key, or sign in.',
    { code: 'access_token' },
  )
}

/** @throws GatewayError `forbidden` for an API key, which belongs to no user */
export function assertUser(actor: Actor): Extract<Actor, { type: 'user' }> {
  if (actor.type !== 'user')
    throw new GatewayError('forbidden', 'This request needs a signed-in user, not an API key.')
  return actor
}

/** @throws GatewayError `forbidden` for anyone but the signed-in owner of the account */
export function assertOwner(actor: Actor): Extract<Actor, { type: 'user' }> {
  if (actor.type !== 'user' || actor.member.role !== 'owner')
    throw new GatewayError('forbidden', 'Only the signed-in owner of the account may do this.')
  return actor
}

/** @throws GatewayError `forbidden` for a signed-in user who is not the owner */
export function assertOwnerOrKey({ actor }: Pick<ControlPlaneCaller, 'actor'>): void {
  if (actor.type === 'user') assertOwner(actor)
}

/**
 * The operator: a key of the first account, or its signed-in owner.
 * @param operatorAccount undefined: every account is a customer's
 * @throws GatewayError `forbidden`
 */
export function assertOperator(
  { accountId, actor, token }: ControlPlaneCaller,
  operatorAccount: AccountId | undefined,
): void {
  if (token !== undefined) throw onlyCalls()
  if (operatorAccount === undefined)
    throw new GatewayError(
      'forbidden',
      'This gateway has no account of its operator (GATEHOUSE_DEFAULT_ACCOUNT=tenant).',
    )
  if (accountId !== operatorAccount || (actor.type === 'user' && actor.member.role !== 'owner'))
    throw new GatewayError(
      'forbidden',
      'Only the operator may do this: with a key of the first account, or signed in as its owner.',
    )
}

export function visitorOf({ request, clientAddress }: ControlPlaneBindings): Visitor {
  return { headers: request.headers, address: clientAddress }
}

const ERROR_DESCRIPTIONS = {
  400: 'The request is invalid; the message names the field.',
  401: 'The key or the session is missing or invalid.',
  403: "Only the owner may do this, or the request did not come from the gateway's own pages.",
  404: 'The account has no such resource.',
  409: 'The resource exists already, or is still in use.',
  413: 'The body is too large.',
  429: 'Too many requests; `retry-after` says when to try again.',
  503: 'The gateway cannot serve this request at the moment.',
} as const

export function errorAnswers<const Status extends keyof typeof ERROR_DESCRIPTIONS>(
  ...statuses: readonly Status[]
) {
  const content = { 'application/json': { schema: errorBody } }
  const entries = [...new Set([401, ...statuses] as const)].map((status) => [
    status,
    { description: ERROR_DESCRIPTIONS[status], content },
  ])
  return Object.fromEntries(entries) as Record<
    Status | 401,
    { description: string; content: typeof content }
  >
}

export function jsonContent<Schema>(schema: Schema, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

export function jsonRequest<Schema>(schema: Schema, description: string) {
  return { query: noQuery, body: { ...jsonContent(schema, description), required: true } }
}
