/**
 * Tells whoever watches of each finished request: by its route's template and who asked, never by
 * what was asked for.
 */
import type { KeyId } from '../core/ids.ts'
import type { ControlPlaneApp, ControlPlaneDependencies } from './control-plane-app.ts'

/** A request that was authenticated → as whom. */
const actors = new WeakMap<Request, KeyId>()

export function noteActor(request: Request, caller: { readonly keyId: KeyId } | undefined): void {
  if (caller !== undefined) actors.set(request, caller.keyId)
}

/**
 * @returns a function that takes the answer's status and the app that has the address, if one has;
 * undefined when nobody watches
 */
export function observeRequest(
  { onAnswered }: Pick<ControlPlaneDependencies, 'onAnswered'>,
  request: Request,
  requestId: string,
): ((status: number, app: ControlPlaneApp | undefined) => void) | undefined {
  if (onAnswered === undefined) return undefined
  const startedAt = performance.now()
  return (status, app) =>
    onAnswered({
      requestId,
      method: METHODS.has(request.method) ? request.method : 'other',
      path: app === undefined ? null : templateOf(app, request),
      status,
      actor: actors.get(request) ?? null,
      durationMs: Math.round(performance.now() - startedAt),
    })
}

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

function templateOf(app: ControlPlaneApp, request: Request): string | null {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const [matched] = app.router.match(method, app.getPath(request))
  return matched.at(-1)?.[0][1].path ?? null
}
