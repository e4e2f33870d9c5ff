/**
 * Passes the author of a change along with the asynchronous work, so that the audit log can name
 * the author without a parameter in every function.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { ChangeOrigin } from '../../core/audit.ts'
import type { Schema } from '../schema.ts'

export const operatorOrigin: ChangeOrigin = {
  actor: { type: 'operator', id: 'local', name: null },
  requestId: null,
  clientAddress: null,
}

/**
 * Checks the author's rights within the transaction of a change, while the account is locked.
 * @throws GatewayError `unauthorized` when the key was deleted or the session ended meanwhile
 */
export type AssertMayStillAct = (transaction: Transaction<Schema>) => Promise<void>

interface Work {
  readonly origin: ChangeOrigin
  readonly assertMayStillAct: AssertMayStillAct | undefined
}

const works = new AsyncLocalStorage<Work>()

/**
 * Sets the origin of all changes within `work`. Within the operator's work the operator stays the
 * actor: the command line calls its own gateway with a temporary key.
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

export function currentOrigin(): ChangeOrigin {
  return works.getStore()?.origin ?? operatorOrigin
}

/** The id of a user or a key, or `operator`; null: unknown. */
export function currentActor(): string | null {
  const { actor } = currentOrigin()
  return actor?.type === 'operator' ? 'operator' : (actor?.id ?? null)
}

/**
 * Checks the author's rights again after a change had to wait: a removed author must not leave
 * access behind.
 * @throws GatewayError `unauthorized`
 */
export async function assertMayStillAct(transaction: Transaction<Schema>): Promise<void> {
  await works.getStore()?.assertMayStillAct?.(transaction)
}
