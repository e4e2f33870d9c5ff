import type { ControlPlane } from './control-plane.ts'
import { exampleOf, type Operation } from './openapi-document.ts'

export interface ReceivedAnswer {
  readonly status: number
  readonly headers: Headers
  readonly contentType: string
  readonly text: string
}

export interface Journey {
  readonly answers: Map<string, ReceivedAnswer>
  readonly cookies: Map<string, string>
}

export async function runExample(
  server: ControlPlane,
  journey: Journey,
  { operation, body }: { readonly operation: Operation; readonly body: unknown },
): Promise<ReceivedAnswer> {
  const response = await fetch(server.url + toAddress(operation, journey), {
    method: operation.method,
    redirect: 'manual',
    headers: {
      ...toExampleHeaders(operation),
      ...toCredential(server, operation, journey),
      ...toOwnPagesHeaders(server),
      ...toContentType(body),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  for (const cookie of response.headers.getSetCookie()) {
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
    journey.cookies.set(name, value)
  }
  const answer = await toReceived(response)
  if (answer.status < 300 && !journey.answers.has(operation.operationId))
    journey.answers.set(operation.operationId, answer)
  return answer
}

export async function toReceived(response: Response): Promise<ReceivedAnswer> {
  return {
    status: response.status,
    headers: response.headers,
    contentType: response.headers.get('content-type')?.split(';')[0]?.trim() ?? '',
    text: await response.text(),
  }
}

function toAddress(operation: Operation, journey: Journey): string {
  let path = operation.path
  const query = new URLSearchParams()
  for (const parameter of operation.parameters) {
    const value = findValue(operation, parameter.name, journey) ?? exampleOf(parameter)
    if (value === undefined) continue
    if (parameter.in === 'path')
      path = path.replace(`{${parameter.name}}`, encodeURIComponent(String(value)))
    if (parameter.in === 'query') query.set(parameter.name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

function toExampleHeaders({ parameters }: Operation): Record<string, string> {
  const headers = parameters.filter((parameter) => parameter.in === 'header')
  return Object.fromEntries(
    headers.flatMap((parameter) => {
      const value = exampleOf(parameter)
      return value === undefined ? [] : [[parameter.name, String(value)]]
    }),
  )
}

function findValue({ sources }: Operation, name: string, { answers }: Journey): string | undefined {
  const source = sources.get(name)
  if (source === undefined) return undefined
  const { operationId, expression } = source
  const answer = answers.get(operationId)
  if (answer === undefined)
    throw new Error(`${operationId} has to succeed first: its answer leads here`)
  const found = evaluate(expression, answer)
  if (found === undefined || found === null)
    throw new Error(`${operationId} answered nothing at ${expression}`)
  return String(found)
}

function evaluate(expression: string, answer: ReceivedAnswer): unknown {
  const header = /^\$response\.header\.(.+)$/.exec(expression)?.[1]
  if (header !== undefined) return answer.headers.get(header)
  const pointer = /^\$response\.body#\/(.+)$/.exec(expression)?.[1]
  if (pointer === undefined) throw new Error(`this expression is not known here: ${expression}`)
  let value: unknown = JSON.parse(answer.text)
  for (const step of pointer.split('/'))
    value = (value as Record<string, unknown> | undefined)?.[step]
  return value
}

function toCredential(
  server: ControlPlane,
  { security }: Operation,
  { cookies }: Journey,
): Record<string, string> {
  const schemes = security.flatMap((alternative) => Object.keys(alternative))
  if (schemes.includes('bearer')) return { authorization: `Bearer ${server.key}` }
  if (schemes.length === 0) return {}
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
}

/** The headers that a browser sends for requests by the gateway's own pages. */
export function toOwnPagesHeaders(server: ControlPlane): Record<string, string> {
  return { origin: server.url, 'x-gatehouse-csrf': '1' }
}

function toContentType(body: unknown): Record<string, string> {
  return body === undefined ? {} : { 'content-type': 'application/json' }
}
