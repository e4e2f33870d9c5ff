/**
 * Carries the actor along with the work itself: the audit log names the actor of a change wherever
 * in the house it happens, and nothing on the way has to hand it on. Must not know any table, nor
 * HTTP.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChangeOrigin } from '../../core/audit.ts'

/** A process on the gateway's own machine that no request has asked. */
export const operatorOrigin: ChangeOrigin = {
  actor: { type: 'operator', id: 'local', name: null },
  requestId: null,
  clientAddress: null,
}

const origins = new AsyncLocalStorage<ChangeOrigin>()

/**
 * All that `work` changes, however deep inside, comes from `origin`. Within work of the operator's
 * the operator stays the actor: the command line asks its own gateway with a key that it has made
 * for the moment.
 */
export function withOrigin<Result>(origin: ChangeOrigin, work: () => Result): Result {
  const outer = origins.getStore()
  return origins.run(outer === undefined ? origin : { ...origin, actor: outer.actor }, work)
}

/** The operator's, where there is no request. */
export function currentOrigin(): ChangeOrigin {
  return origins.getStore() ?? operatorOrigin
}
