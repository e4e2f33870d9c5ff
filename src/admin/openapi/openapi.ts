/**
 * `GET /openapi.json`: the machine-readable description of the whole service, generated from its
 * routes. Public.
 */

import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { errorBody } from '../../contract/errors.ts'
import { SESSION_COOKIE } from '../../identity/sign-in-constants.ts'
import { type ControlPlaneApp, jsonContent, OPENAPI_PATH } from '../control-plane-app.ts'
import { completeDocument } from './complete-document.ts'
import { registerDataPlane } from './openapi-data-plane.ts'

/** The API's version (interface-spec, Versioning), not the build's. */
const INTERFACE_VERSION = '1.0.0'

const PREFACE = {
  openapi: '3.1.0',
  info: {
    title: 'Gatehouse',
    version: INTERFACE_VERSION,
    summary: 'A gateway for applications that call large language models.',
    description:
      'Keep your SDK, change the base address, and pass a gate id where the model name was.\n\n' +
      'Every request carries `Authorization: Bearer <API_KEY>`, or in the control plane the ' +
      'session of a user; every answer but those of ' +
      '`/`, `/healthz` and `/readyz` carries `x-request-id`. Errors come in the envelope of ' +
      "the endpoint's family: nested for OpenAI's formats (`NestedError`), Anthropic's own " +
      'for Messages (`MessagesError`), flat for all ' +
      'else (`Error`). Lists are answered in pages: `nextCursor` is the `cursor` of the next ' +
      'one. The control plane is strict: a member or ' +
      'parameter that it does not know is refused by name. Answers are open: a later version ' +
      'may add members.\n\n' +
      'The examples run as they are against a gateway that was started with its sandbox ' +
      '(`serve --sandbox`).',
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  servers: [{ url: '/', description: 'This gateway.' }],
  security: [{ bearer: [] }, { session: [] }],
}

export function bindOpenApi(app: ControlPlaneApp): void {
  const registry = app.openAPIRegistry
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key of the account: `Authorization: Bearer sk-svc-…`. An access token ' +
      '(`at-svc-…`) is accepted for all calls through its gates and for the lists of models. In ' +
      'the control plane it reaches only `GET /v1/session`, `GET /v1/analytics` and ' +
      '`GET /v1/analytics/latency`, with its own usage; everything else is 403.',
  })
  registry.registerComponent('securitySchemes', 'apiKeyHeader', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description:
      'The key or token in the header that the Anthropic SDKs use; accepted only on `/v1/messages` and paths below it.',
  })
  registry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      "A signed-in user's session (`__Host-` comes before the name where the gateway is " +
      'reached by https). What changes ' +
      "something also needs `origin`, the gateway's own, and `x-gatehouse-csrf: 1`.",
  })
  registerDataPlane(registry)
  registerService(registry)

  let text: string | undefined
  app.get(OPENAPI_PATH, (c) => {
    text ??= JSON.stringify(completeDocument(app.getOpenAPI31Document(PREFACE)))
    return c.body(text, 200, { 'content-type': 'application/json' })
  })
}

type Registry = OpenAPIHono['openAPIRegistry']

const version = z.string().meta({ description: "The build's version.", example: '0.1.0' })

const welcomeBody = z
  .object({
    name: z.literal('Gatehouse'),
    version,
    dashboard: z.string(),
    docs: z.string(),
    openapi: z.string(),
  })
  .meta({ id: 'Welcome' })
const healthBody = z.object({ status: z.literal('ok'), version }).meta({ id: 'Health' })
const readinessBody = z
  .object({
    status: z.enum(['ready', 'not ready']),
    checks: z
      .record(z.string(), z.looseObject({ status: z.string() }))
      .meta({ description: 'The checks by name, with their figures.' }),
  })
  .meta({ id: 'Readiness' })

const openApiBody = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({}),
  paths: z
    .record(z.string(), z.looseObject({}))
    .meta({ description: 'Operations by path and method.' }),
  components: z.looseObject({
    schemas: z.record(
      z.string(),
      z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }),
    ),
  }),
})

const tags = ['Service']
const security: Record<string, string[]>[] = []

function page(contentType: string, description: string) {
  return { description, content: { [contentType]: { schema: z.string() } } }
}

/** Public, so each address has a limit. */
const TOO_MANY = {
  429: jsonContent(errorBody, 'Too many requests; `retry-after` says when to try again.'),
}

export function registerService(registry: Registry): void {
  registry.registerPath({
    method: 'get',
    path: '/',
    operationId: 'getWelcome',
    summary: 'Name and version of the gateway',
    description: 'Browsers, which accept `text/html`, are redirected to the dashboard.',
    tags,
    security,
    responses: {
      200: jsonContent(welcomeBody, 'The gateway.'),
      302: { description: 'Redirects to the dashboard, because HTML was requested.' },
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Liveness',
    tags,
    security,
    responses: { 200: jsonContent(healthBody, 'It does.') },
  })
  registry.registerPath({
    method: 'get',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Readiness',
    tags,
    security,
    responses: {
      200: jsonContent(readinessBody, 'It can.'),
      503: jsonContent(
        readinessBody,
        'The gateway cannot serve calls; `checks` gives the reasons.',
      ),
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Prometheus metrics',
    description:
      'Only where the operator asked for them, on this port or on another; a token of their ' +
      'own may guard them.',
    tags,
    security,
    responses: {
      200: page('text/plain', 'The figures.'),
      401: jsonContent(errorBody, 'The token of the metrics is missing or invalid.'),
      404: jsonContent(errorBody, 'The metrics are not at this address.'),
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This document',
    tags,
    security,
    responses: {
      200: jsonContent(openApiBody, 'OpenAPI 3.1.'),
      ...TOO_MANY,
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/docs',
    operationId: 'getDocs',
    summary: 'This document as a page, with requests to try',
    tags,
    security,
    responses: { 200: page('text/html', 'A page.'), ...TOO_MANY },
  })
}
