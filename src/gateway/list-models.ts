/** `GET /v1/models`: the account's gates as OpenAI's model list, for SDKs and tools that ask what there is. */
import { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import { createCallId } from '../core/ids.ts'
import { type AuthenticatePorts, authenticate, whenFresh } from './authenticate.ts'
import type { GateStore } from './ports.ts'

export interface ModelPorts extends AuthenticatePorts {
  readonly gates: GateStore
}

/** @throws GatewayError `unauthorized` (rejects) */
export async function listModels(ports: ModelPorts, request: Request): Promise<Response> {
  await whenFresh(ports)
  const caller = authenticate(ports, request.headers)
  return answer({ object: 'list', data: ports.gates.list(caller.accountId).map(toModel) })
}

/** @throws GatewayError `unauthorized` or `gate_not_found` (rejects) */
export async function retrieveModel(ports: ModelPorts, request: Request): Promise<Response> {
  await whenFresh(ports)
  const caller = authenticate(ports, request.headers)
  const gate = ports.gates.find(caller.accountId, lastSegment(request.url))
  if (gate === undefined) {
    throw new GatewayError('gate_not_found', 'There is no gate of this id in this account.', {
      param: 'model',
    })
  }
  return answer(toModel(gate))
}

function toModel(gate: Gate) {
  return { id: gate.id, object: 'model', created: Math.floor(gate.createdAt / 1000), owned_by: 'gatehouse' }
}

function lastSegment(url: string): string {
  const { pathname } = new URL(url)
  try {
    return decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1))
  } catch {
    return '' // A broken percent-escape is the id of no gate.
  }
}

function answer(body: unknown): Response {
  return Response.json(body, { headers: { 'x-request-id': createCallId(), 'cache-control': 'no-store' } })
}
