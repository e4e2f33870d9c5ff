/**
 * `/v1/playground`: a call in the gateway's own chat format, for users with a session and no key.
 * The data plane reads the body, serves the call, and describes the route.
 */
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
} from '../control-plane-app.ts'

export const PLAYGROUND_PATH = '/v1/playground'

export function bindPlayground(
  app: ControlPlaneApp,
  { serveChat }: ControlPlaneDependencies,
): void {
  app.post(PLAYGROUND_PATH, (c) => {
    const { request, requestId } = c.env
    return serveChat(request, { caller: callerOf(c.env), id: requestId })
  })
}
