/**
 * Answers that need no target: what the gateway itself can say when no upstream has the endpoint.
 */
import type { AcceptedRequest, Dialect } from '../../wire/dialect.ts'
import type { Settle } from '../settle/settle.ts'

/** @throws GatewayError `invalid_request` */
export async function answerLocally(
  dialect: Dialect,
  request: AcceptedRequest,
  settle: Settle,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const answer = dialect.answerLocally?.(request)
  await settle({ outcome: 'succeeded', status: 200 })
  return Response.json(answer, { headers: { ...headers, 'x-gatehouse-estimated': 'true' } })
}
