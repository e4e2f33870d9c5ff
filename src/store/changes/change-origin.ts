/**
 * Passes the actor along with the asynchronous work, so that the audit log can name it for every
 * change without passing it through every function. Must not know any table, nor HTTP.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { ChangeOrigin } from '../../core/audit.ts'
import type { Schema } from '../schema.ts'

/** A process on the gateway's own machine, without a request. */
export const operatorOrigin: ChangeOrigin = {
  actor: { type: 'operator', id: 'local', name: null },
  requestId: null,
  clientAddress: null,
}

/**
 * Called within each change's transaction, when no other transaction can change the account.
 * @throws GatewayError `unauthorized` when the key was deleted or the session ended meanwhile
 */
export type AssertMayStillAct = (transaction: Transaction<Schema>) => Promise<void>

interface Work {
  readonly origin: ChangeOrigin
  /** Undefined: the right cannot be lost meanwhile. */
  readonly assertMayStillAct: AssertMayStillAct | undefined
}

const works = new AsyncLocalStorage<Work>()

/**
 * All changes that `work` makes, at any depth, come from `origin`. Within the operator's work the
 * operator stays the actor: the command line calls its own gateway with a temporary key.
 */
export function withOrigin<Result>(
  origin: ChangeOrigin,
  work: () => Result,
  assertMayStillAct?: AssertMayStillAct,
): Result {
  const outer = works.getStore()?.origin
  const whole = outer === undefined ? origin : { ...origin, actor: outer.actor }
  return works.run({ origin: whole, assertMayStillAct }, work)
}

/** The operator's when there is no request. */
export function currentOrigin(): ChangeOrigin {
  return works.getStore()?.origin ?? operatorOrigin
}

/**
 * For a change that had to wait: meanwhile its author's key may have been deleted, or the author
 * removed, who must not leave access behind.
 * @throws GatewayError `unauthorized`
 */
export async function assertMayStillAct(transaction: Transaction<Schema>): Promise<void> {
  await works.getStore()?.assertMayStillAct?.(transaction)
}
