/**
 * Describes the addresses that are about the service itself, for OpenAPI readers. Must not know who
 * answers them.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { errorBody } from '../../contract/errors.ts'
import { jsonContent } from '../control-plane-app.ts'

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
      .meta({ description: 'The things that were looked at, by name, with their figures.' }),
  })
  .meta({ id: 'Readiness' })

const openApiBody = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({}),
  paths: z
    .record(z.string(), z.looseObject({}))
    .meta({ description: 'Operations by path, by method.' }),
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

/** Add any other route that answers without a key of the account. */
/** Nobody has to be known to ask, so an address may ask so often. */
const TOO_MANY = {
  429: jsonContent(errorBody, 'Too many requests; `retry-after` says when to come back.'),
}

export function registerService(registry: Registry): void {
  registry.registerPath({
    method: 'get',
    path: '/',
    operationId: 'getWelcome',
    summary: 'Who answers here',
    description: 'Browsers, which accept `text/html`, are led to the dashboard.',
    tags,
    security,
    responses: {
      200: jsonContent(welcomeBody, 'The gateway.'),
      302: { description: 'To the dashboard: it was asked for HTML.' },
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Whether the process answers',
    tags,
    security,
    responses: { 200: jsonContent(healthBody, 'It does.') },
  })
  registry.registerPath({
    method: 'get',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Whether it can serve',
    tags,
    security,
    responses: {
      200: jsonContent(readinessBody, 'It can.'),
      503: jsonContent(readinessBody, 'It cannot; the checks say why.'),
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Figures for Prometheus',
    description:
      'Only where the operator asked for them, on this port or on another; a token of their ' +
      'own may guard them.',
    tags,
    security,
    responses: {
      200: page('text/plain', 'The figures.'),
      401: jsonContent(errorBody, 'Their token is missing or not valid.'),
      404: jsonContent(errorBody, 'They are not here.'),
    },
  })
  registry.registerPath({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This description',
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
    summary: 'This description, to read and to try',
    tags,
    security,
    responses: { 200: page('text/html', 'A page.'), ...TOO_MANY },
  })
}
