/** Stops of members and access tokens, and stops by fuses, in the database. */
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { ChangeActor } from '../../core/audit.ts'
import { FUSE_ACTOR, type FusedHead, type FuseOwner } from '../../core/fuse.ts'
import type { AccountId, GateId } from '../../core/ids.ts'
import {
  fusedStopIds,
  readFusedStopId,
  type Stop,
  stoppedKindOf,
  toPublicStop,
} from '../../core/stop.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { findSome, type NamedThing } from '../database/find-some.ts'
import type { Schema, StopTable } from '../schema.ts'

const ROWS_PER_STATEMENT = 500

export class StopTableStore {
  readonly #database: Kysely<Schema>
  readonly #sync: () => Promise<void>

  constructor(database: Kysely<Schema>, sync: () => Promise<void>) {
    this.#database = database
    this.#sync = sync
  }

  async loadAll(): Promise<Stop[]> {
    return (await this.#database.selectFrom('stops').selectAll().execute()).map(toStop)
  }

  /** One entry per resource; undefined when it is not stopped. */
  findSome(things: readonly NamedThing[]): Promise<readonly (Stop | undefined)[]> {
    return findSome(this.#database, { table: 'stops', idColumn: 'id', toStored: toStop }, things)
  }

  /**
   * Stops a member, a token, or a session or user of a fuse, or replaces the reason. Durable when
   * this resolves, even across a power failure.
   * @returns the stop; undefined when the account has no such member, token or fuse, or the member
   * is its owner
   */
  async insert(stop: Stop): Promise<Stop | undefined> {
    const fused = readFusedStopId(stop.id)
    const stored = await changeAccount(this.#database, stop.accountId, async (transaction) => {
      if (!(await mayBeStopped(transaction, stop))) return undefined
      // The report of this stop counts only calls that end from now on.
      await transaction.deleteFrom('ended_calls').where('id', '=', stop.id).execute()
      const known = await find(transaction, stop)
      if (known !== undefined && known.reason === stop.reason) return known
      const row = toRow(stop)
      await transaction
        .insertInto('stops')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ reason: row.reason }))
        .execute()
      const after = known === undefined ? stop : { ...known, reason: stop.reason }
      await recordChange(transaction, {
        ...{ accountId: stop.accountId, action: 'stop.create', resourceId: stop.id },
        before: known === undefined ? null : toPublicStop(known),
        after: toPublicStop(after),
        ...(fused !== undefined && {
          actor: { type: FUSE_ACTOR, id: fused.owner.id, name: null },
        }),
      })
      return after
    })
    await this.#sync()
    return stored
  }

  /** Lifts a stop; without one nothing is recorded. */
  async delete(name: NamedThing, actor?: ChangeActor): Promise<void> {
    const { accountId, id } = name
    await changeAccount(this.#database, accountId, async (transaction) => {
      const before = await find(transaction, name)
      // Nodes that hold a stop which a restored backup lacks learn only of changed rows.
      if (before === undefined)
        await transaction.insertInto('stops').values(toEmptyRow(name)).execute()
      await transaction
        .deleteFrom('stops')
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .execute()
      if (before === undefined) return
      await recordChange(transaction, {
        ...{ accountId, action: 'stop.delete', resourceId: id },
        ...{ before: toPublicStop(before), after: null },
        ...(actor !== undefined && { actor }),
      })
    })
    await this.#sync()
  }
}

function toEmptyRow({ accountId, id }: NamedThing): StopTable {
  return { id, account_id: accountId, reason: null, created_at: 0, created_by: null }
}

async function find(
  transaction: Transaction<Schema>,
  { accountId, id }: NamedThing,
): Promise<Stop | undefined> {
  const row = await transaction
    .selectFrom('stops')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined ? undefined : toStop(row)
}

async function mayBeStopped(
  transaction: Transaction<Schema>,
  { accountId, id }: NamedThing,
): Promise<boolean> {
  const fused = readFusedStopId(id)
  if (fused !== undefined) return await hasFuse(transaction, accountId, fused.owner)
  const query =
    stoppedKindOf(id) === 'member'
      ? transaction
          .selectFrom('members')
          .select('role as found')
          .where('account_id', '=', accountId)
          .where('user_id', '=', id as Selectable<Schema['members']>['user_id'])
          .where('role', '<>', 'owner')
      : transaction
          .selectFrom('api_keys')
          .select('id as found')
          .where('account_id', '=', accountId)
          .where('id', '=', id as Selectable<Schema['api_keys']>['id'])
          .where('token', 'is not', null)
  return (await query.executeTakeFirst()) !== undefined
}

async function hasFuse(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  { type, id }: FuseOwner,
): Promise<boolean> {
  const table = { gate: 'gates', budget: 'budgets' } as const
  const row = await transaction
    .selectFrom(table[type])
    .select('fuse')
    .where('account_id', '=', accountId)
    .where('id', '=', id as GateId)
    .executeTakeFirst()
  return row !== undefined && row.fuse !== null
}

/** Called when a fuse or its owner is deleted. */
export async function deleteFusedStops(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  owner: FuseOwner,
): Promise<void> {
  const start = fusedStopIds(accountId, owner)
  await transaction
    .deleteFrom('stops')
    .where('account_id', '=', accountId)
    .where(sql`substr(id, 1, ${start.length})`, '=', start)
    .execute()
}

/** Called when fuses cannot meet these heads any more. */
export async function deleteStopsOfHeads(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  isGone: (head: Omit<FusedHead, 'accountId'>) => boolean,
): Promise<void> {
  const start = fusedStopIds(accountId)
  const rows = await transaction
    .selectFrom('stops')
    .select('id')
    .where('account_id', '=', accountId)
    .where(sql`substr(id, 1, ${start.length})`, '=', start)
    .execute()
  const gone = rows
    .map(({ id }) => id)
    .filter((id) => {
      const head = readFusedStopId(id)
      return head !== undefined && isGone(head)
    })
  for (let at = 0; at < gone.length; at += ROWS_PER_STATEMENT)
    await transaction
      .deleteFrom('stops')
      .where('account_id', '=', accountId)
      .where('id', 'in', gone.slice(at, at + ROWS_PER_STATEMENT))
      .execute()
}

export async function isStopped(
  database: Kysely<Schema>,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const row = await database
    .selectFrom('stops')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

function toRow({ id, accountId, reason, createdAt, createdBy }: Stop): StopTable {
  return { id, account_id: accountId, reason, created_at: createdAt, created_by: createdBy }
}

function toStop(row: Selectable<StopTable>): Stop {
  return {
    accountId: row.account_id,
    id: row.id,
    reason: row.reason,
    createdAt: row.created_at,
    createdBy: row.created_by,
  }
}
