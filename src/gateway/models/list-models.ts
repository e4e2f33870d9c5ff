/**
 * Lists the account's gates as models for SDKs and tools: `GET /v1/models` in OpenAI's or
 * Anthropic's form, `GET /alt/v1/models` in Mistral's.
 */

import { hash } from 'node:crypto'
import type { Timekeeper } from '../../core/clock.ts'
import { type DialectId, formOfDialect } from '../../core/dialects.ts'
import { GatewayError } from '../../core/errors.ts'
import { type Gate, listedNamesOf } from '../../core/gate.ts'
import { factsOfTarget, resolveFacts, toFacts } from '../../core/gate-facts.ts'
import { createCallId } from '../../core/ids.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import type { HttpRequest } from '../../net/messages.ts'
import { describeReach, findGate, listGates } from '../access-token.ts'
import {
  type AuthenticatePorts,
  authenticate,
  type ClientAddress,
  whenFresh,
} from '../authenticate.ts'
import { findUpstream, type PlanPorts } from '../plan/plan-targets.ts'
import type { GateStore, KnownFacts, Prices } from '../ports.ts'
import { CODEX_QUERY, toCodexModels } from './codex-models.ts'
import { listPriceOf, priceOfTarget } from './list-price.ts'
import {
  type AltCalls,
  altModels,
  type ModelDetails,
  type ModelEntry,
  type ModelShape,
  messagesModels,
  nestedModels,
  speaksMessages,
} from './model-shapes.ts'

export type ModelPorts = AuthenticatePorts &
  Pick<PlanPorts, 'providers' | 'ownedModels'> & {
    readonly clock: Pick<Timekeeper, 'now'>
    readonly gates: GateStore
    readonly facts?: KnownFacts | undefined
    readonly prices?: Prices | undefined
  }

export function modelShapeOf(path: string, headers: HttpRequest['headers']): ModelShape {
  if (path.startsWith('/alt/')) return altModels
  return speaksMessages(headers) ? messagesModels : nestedModels
}

/** @throws GatewayError `unauthorized`, or `invalid_request` for an invalid page (rejects) */
export async function listModels(
  ports: ModelPorts,
  request: HttpRequest,
  shape: ModelShape,
  addressOf?: ClientAddress,
): Promise<Response> {
  await whenFresh(ports)
  const caller = authenticate(ports, request.headers, addressOf, KEY_HEADER)
  const query = new URL(request.url).searchParams
  const entries = toEntries(listGates(ports.gates, caller))
  const detailsOf = createDetails(ports, caller)
  const list = shape.toList(entries, query, (entry) => shape.toModel(entry, detailsOf(entry)))
  const isCodex = shape === nestedModels && query.has(CODEX_QUERY)
  const body = isCodex ? { ...list, ...toCodexModels(entries, detailsOf) } : list
  return isCodex ? answerTagged(body, request, shape) : answerJson(body, shape)
}

export async function retrieveModel(
  ports: ModelPorts,
  request: HttpRequest,
  shape: ModelShape,
  addressOf?: ClientAddress,
): Promise<Response> {
  await whenFresh(ports)
  const caller = authenticate(ports, request.headers, addressOf, KEY_HEADER)
  const id = nameIn(request.url)
  const gate = findGate(ports.gates, caller, id)
  if (gate === undefined) {
    const gates = listGates(ports.gates, caller)
    const hint = didYouMean(id, gates.flatMap(listedNamesOf))
    throw new GatewayError(
      'gate_not_found',
      `There is no gate with this name ${describeReach(caller, gates)}.${hint} List the gates with GET /v1/models.`,
      { param: 'model' },
    )
  }
  const entry = { id, gate }
  return answerJson(shape.toModel(entry, createDetails(ports, caller)(entry)), shape)
}

/** The header in which Anthropic's clients send the key. */
const KEY_HEADER = 'x-api-key'

/** Each gate, followed by its listed aliases. */
function toEntries(gates: readonly Gate[]): readonly ModelEntry[] {
  return gates.flatMap((gate) => listedNamesOf(gate).map((id) => ({ id, gate })))
}

/** A target is looked up once for the whole list. */
function createDetails(
  ports: ModelPorts,
  { accountId }: Pick<Gate, 'accountId'>,
): (entry: ModelEntry) => ModelDetails {
  const { prices, clock } = ports
  const startedAt = clock.now()
  const factsOf = once((target) => factsOfTarget(ports.facts, target))
  const priceOf = once(
    (target) => prices && priceOfTarget(prices, { accountId, target, startedAt }),
  )
  return ({ gate }) => ({
    facts: () => toFacts(resolveFacts(gate, factsOf)),
    price: () => listPriceOf(gate, priceOf),
    calls: () => callsOf(ports, gate),
  })
}

function once<Value>(find: (target: string) => Value): (target: string) => Value {
  const found = new Map<string, Value>()
  return (target) => {
    const known = found.get(target)
    if (known !== undefined || found.has(target)) return known as Value
    const value = find(target)
    found.set(target, value)
    return value
  }
}

function callsOf(ports: ModelPorts, { accountId, targets }: Gate): AltCalls {
  const endpoints = targets.map(
    ({ model }) => findUpstream(ports, accountId, model)?.provider.endpoints ?? {},
  )
  return {
    chat: endpoints.some((dialects) => 'mistral-chat' in dialects),
    fim: endpoints.some((dialects) => Object.keys(dialects).some(fillsInTheMiddle)),
  }
}

function fillsInTheMiddle(dialect: string): boolean {
  return formOfDialect(dialect as DialectId).id === 'fim'
}

/** An alias may contain slashes, which some SDKs do not encode. */
function nameIn(url: string): string {
  const { pathname } = new URL(url)
  try {
    return decodeURIComponent(pathname.slice(pathname.indexOf(LIST_END) + LIST_END.length))
  } catch {
    return '' // An id with a broken percent-escape cannot name a gate.
  }
}

const LIST_END = '/v1/models/'

export function answerJson(body: object, shape: Pick<ModelShape, 'requestIdHeader'>): Response {
  return Response.json(body, { headers: { ...newIdHeaders(shape), 'cache-control': 'no-store' } })
}

/** Codex keeps the list until its tag changes. */
function answerTagged(body: object, request: HttpRequest, shape: ModelShape): Response {
  const tag = `"${hash('sha256', JSON.stringify(body), 'base64url')}"`
  const headers = { ...newIdHeaders(shape), etag: tag, 'cache-control': 'no-cache' }
  const isKnown = request.headers.get('if-none-match') === tag
  return isKnown ? new Response(null, { status: 304, headers }) : Response.json(body, { headers })
}

export function newIdHeaders({
  requestIdHeader,
}: Pick<ModelShape, 'requestIdHeader'>): Record<string, string> {
  const id = createCallId()
  return { 'x-request-id': id, ...(requestIdHeader === undefined ? {} : { [requestIdHeader]: id }) }
}
