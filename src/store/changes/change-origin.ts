/**
 * Carries the actor along with the work itself: the audit log names the actor of a change wherever
 * in the house it happens, and nothing on the way has to hand it on. Must not know any table, nor
 * HTTP.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { ChangeOrigin } from '../../core/audit.ts'
import type { Schema } from '../schema.ts'

/** A process on the gateway's own machine that no request has asked. */
export const operatorOrigin: ChangeOrigin = {
  actor: { type: 'operator', id: 'local', name: null },
  requestId: null,
  clientAddress: null,
}

/**
 * Asked within the transaction of each change, once nobody else can change the account.
 * @throws GatewayError `unauthorized` where the key was deleted or the session ended meanwhile
 */
export type AssertMayStillAct = (transaction: Transaction<Schema>) => Promise<void>

interface Work {
  readonly origin: ChangeOrigin
  /** Absent: nobody can take the right away meanwhile. */
  readonly assertMayStillAct: AssertMayStillAct | undefined
}

const works = new AsyncLocalStorage<Work>()

/**
 * All that `work` changes, however deep inside, comes from `origin`. Within work of the operator's
 * the operator stays the actor: the command line asks its own gateway with a key that it has made
 * for the moment.
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

/** The operator's, where there is no request. */
export function currentOrigin(): ChangeOrigin {
  return works.getStore()?.origin ?? operatorOrigin
}

/**
 * For a change that has had to wait for others: one of them may have deleted its author's key, or
 * removed its author, who must not leave access behind.
 * @throws GatewayError `unauthorized`
 */
export async function assertMayStillAct(transaction: Transaction<Schema>): Promise<void> {
  await works.getStore()?.assertMayStillAct?.(transaction)
}
