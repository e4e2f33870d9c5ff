/** The few control-plane calls that tests need to set their scene. Speaks HTTP only. */
import { pollUntil } from './poll-until.ts'

export interface ControlPlane {
  readonly url: string
  readonly key: string
}

export interface LogRow {
  readonly id: string
  readonly gateId: string
  readonly dialect: string
  readonly stream: boolean
  readonly target: string | null
  readonly attempts: number
  readonly outcome: string
  readonly status: number
  readonly errorKind: string | null
  readonly usage: Usage | null
  readonly credential: 'own' | 'platform' | null
}

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
}

export interface CreatedKey {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly maskedPrefix: string
}

/**
 * Sends JSON with the key.
 * @param path absolute
 */
export function controlPlaneCall(
  server: ControlPlane,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function expectStatus(response: Response, status: number): Promise<Response> {
  if (response.status !== status)
    throw new Error(`wanted ${status}, got ${response.status}: ${await response.text()}`)
  return response
}

/** Creates a gate that asks its upstream exactly once, unless `maxRetries` says otherwise. */
export async function createGate(
  server: ControlPlane,
  id: string,
  models: string | readonly string[],
  extra: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const targets = (typeof models === 'string' ? [models] : models).map((model) => ({ model }))
  await expectStatus(
    await controlPlaneCall(server, 'POST', '/v1/gates', { id, targets, maxRetries: 0, ...extra }),
    201,
  )
  return id
}

export async function createKey(server: ControlPlane, name: string): Promise<CreatedKey> {
  const response = await expectStatus(
    await controlPlaneCall(server, 'POST', '/v1/keys', { name }),
    201,
  )
  return (await response.json()) as CreatedKey
}

export async function deleteKey(server: ControlPlane, id: string): Promise<void> {
  await expectStatus(await controlPlaneCall(server, 'DELETE', `/v1/keys/${id}`), 200)
}

export function waitForLogRow(
  server: ControlPlane,
  callId: string | null | undefined,
): Promise<LogRow> {
  return pollUntil(`the log row of ${callId}`, async () => {
    const response = await controlPlaneCall(server, 'GET', `/v1/logs/${callId}`)
    if (response.status === 404) return undefined
    return (await (await expectStatus(response, 200)).json()) as LogRow
  })
}

export async function listLogRows(server: ControlPlane): Promise<LogRow[]> {
  const rows: LogRow[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const response = await expectStatus(
      await controlPlaneCall(server, 'GET', `/v1/logs?limit=200${query}`),
      200,
    )
    const page = (await response.json()) as { data: LogRow[]; nextCursor: string | null }
    rows.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}
