/** `GET /openapi.json`: the machine-readable description of the whole service, made from what is bound. Public. */
import { SESSION_COOKIE } from '../identity/sign-in-constants.ts'
import type { ControlPlaneApp } from './control-plane-app.ts'
import { registerDataPlane } from './openapi-data-plane.ts'

export const OPENAPI_PATH = '/openapi.json'

/** The interface's version (interface-spec, Versioning), not the build's. */
const INTERFACE_VERSION = '1.0.0'

export function bindOpenApi(app: ControlPlaneApp): void {
  const registry = app.openAPIRegistry
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of the account: `Authorization: Bearer sk-svc-…`.',
  })
  registry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      "A signed-in user's session (`__Secure-` comes before the name where the gateway is reached by https). What changes " +
      "something also needs `origin`, the gateway's own, and `x-gatehouse-csrf: 1`.",
  })
  registerDataPlane(registry)

  let text: string | undefined
  app.get(OPENAPI_PATH, (c) => {
    text ??= JSON.stringify(
      app.getOpenAPI31Document({
        openapi: '3.1.0',
        info: {
          title: 'Gatehouse',
          version: INTERFACE_VERSION,
          description:
            'A gateway for applications that call large language models: keep your SDK, change the base address, ' +
            'and pass a gate id where the model name was.',
          license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
        },
        servers: [{ url: '/' }],
        security: [{ bearer: [] }, { session: [] }],
      }),
    )
    return c.body(text, 200, { 'content-type': 'application/json' })
  })
}
