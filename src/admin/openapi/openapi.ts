/**
 * `GET /openapi.json`: the machine-readable description of the whole service, made from what is
 * bound. Public.
 */
import { SESSION_COOKIE } from '../../identity/sign-in-constants.ts'
import { type ControlPlaneApp, OPENAPI_PATH } from '../control-plane-app.ts'
import { completeDocument } from './complete-document.ts'
import { registerDataPlane } from './openapi-data-plane.ts'
import { registerService } from './openapi-service.ts'

/** The interface's version (interface-spec, Versioning), not the build's. */
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
    description: 'An API key of the account: `Authorization: Bearer sk-svc-…`.',
  })
  registry.registerComponent('securitySchemes', 'apiKeyHeader', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The same key, where the Anthropic SDKs put it: on `/v1/messages` and below only.',
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
