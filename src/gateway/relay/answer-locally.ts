/**
 * Answers that need no target: what the gateway itself can say when no upstream has the endpoint.
 */
import type { AdmittedCall } from '../call.ts'
import { type SettlePorts, settle } from '../settle/settle.ts'

/** @throws GatewayError `invalid_request` */
export async function answerLocally(ports: SettlePorts, call: AdmittedCall): Promise<Response> {
  const answer = call.dialect.answerLocally?.(call.accepted)
  await settle(ports, call, { outcome: 'succeeded', status: 200 })
  return Response.json(answer, { headers: { ...call.headers, 'x-gatehouse-estimated': 'true' } })
}
