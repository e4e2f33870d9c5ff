/**
 * `/v1/playground`: a call in the gateway's own chat format, for those who have a session and no
 * key. How it is served, from reading its body on, is the data plane's (and so is its description);
 * nothing of it is looked at here.
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
