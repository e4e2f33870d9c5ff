/**
 * Carries the actor along with the work itself: the audit log names the actor of a change wherever
 * in the house it happens, and nothing on the way has to hand it on. Must not know any table, nor
 * HTTP.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChangeOrigin } from '../../core/audit.ts'
import { GatewayError } from '../../core/errors.ts'

/** A process on the gateway's own machine that no request has asked. */
export const operatorOrigin: ChangeOrigin = {
  actor: { type: 'operator', id: 'local', name: null },
  requestId: null,
  clientAddress: null,
}

interface Work {
  readonly origin: ChangeOrigin
  /** Absent: nobody can take the right away meanwhile. */
  readonly mayStillAct: (() => boolean) | undefined
}

const works = new AsyncLocalStorage<Work>()

/**
 * All that `work` changes, however deep inside, comes from `origin`. Within work of the operator's
 * the operator stays the actor: the command line asks its own gateway with a key that it has made
 * for the moment.
 * @param mayStillAct see `assertMayStillAct`
 */
export function withOrigin<Result>(
  origin: ChangeOrigin,
  work: () => Result,
  mayStillAct?: () => boolean,
): Result {
  const outer = works.getStore()?.origin
  const whole = outer === undefined ? origin : { ...origin, actor: outer.actor }
  return works.run({ origin: whole, mayStillAct }, work)
}

/** The operator's, where there is no request. */
export function currentOrigin(): ChangeOrigin {
  return works.getStore()?.origin ?? operatorOrigin
}

/**
 * For a change that has had to wait for others: its author's key may have been deleted by one of
 * them, and must not leave another behind.
 * @throws GatewayError `unauthorized`
 */
export function assertMayStillAct(): void {
  if (works.getStore()?.mayStillAct?.() === false)
    throw new GatewayError('unauthorized', 'The API key was deleted before this was done.')
}
