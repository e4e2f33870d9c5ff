/** Gates in the database. Trusts what it is given: the contract has checked it. */
import type { Kysely, Selectable } from 'kysely'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../core/account-caps.ts'
import { type Gate, type GateDefaults, toPublicGate } from '../core/gate.ts'
import type { AccountId, GateId } from '../core/ids.ts'
import { recordChange } from './audit-log.ts'
import { changeAccount } from './change-account.ts'
import { findSome, type NamedThing } from './find-some.ts'
import { insertWithinCap } from './insert-within-cap.ts'
import type { GateTable, Schema } from './schema.ts'
import { createTextSharing, type TextSharing } from './share-texts.ts'

export class GateTableStore {
  readonly #database: Kysely<Schema>
  readonly #caps: AccountCaps

  constructor(database: Kysely<Schema>, caps: AccountCaps = DEFAULT_ACCOUNT_CAPS) {
    this.#database = database
    this.#caps = caps
  }

  /** Every gate of every account, for the snapshot at start. */
  async loadAll(): Promise<Gate[]> {
    const rows = await this.#database.selectFrom('gates').selectAll().execute()
    const share = createTextSharing()
    return rows.map((row) => toGate(row, share))
  }

  /** One for each that is asked for; undefined where there is none. */
  findSome(things: readonly NamedThing[]): Promise<readonly (Gate | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'gates', idColumn: 'id', toStored: (row) => toGate(row) },
      things,
    )
  }

  /**
   * @returns false when the account has a gate with this id already.
   * @throws GatewayError `conflict` when it has too many
   */
  async insert(gate: Gate): Promise<boolean> {
    const capped = { thing: 'gates', accountId: gate.accountId, caps: this.#caps } as const
    return await insertWithinCap(this.#database, capped, async (transaction) => {
      const result = await transaction
        .insertInto('gates')
        .values({
          account_id: gate.accountId,
          id: gate.id,
          created_at: gate.createdAt,
          ...toMutableColumns(gate),
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (Number(result.numInsertedOrUpdatedRows ?? 0) !== 1) return false
      const after = toPublicGate(gate)
      const { accountId, id: resourceId } = gate
      await recordChange(transaction, {
        accountId,
        action: 'gate.create',
        resourceId,
        before: null,
        after,
      })
      return true
    })
  }

  /** Writes everything about a gate that may change. @returns false when there is no such gate. */
  async save(gate: Gate): Promise<boolean> {
    return await changeAccount(this.#database, gate.accountId, async (transaction) => {
      const previous = await find(transaction, gate.accountId, gate.id)
      if (previous === undefined) return false
      await transaction
        .updateTable('gates')
        .set(toMutableColumns(gate))
        .where('account_id', '=', gate.accountId)
        .where('id', '=', gate.id)
        .execute()
      const [before, after] = [toPublicGate(previous), toPublicGate(gate)]
      const { accountId, id: resourceId } = gate
      await recordChange(transaction, {
        accountId,
        action: 'gate.update',
        resourceId,
        before,
        after,
      })
      return true
    })
  }

  async delete(accountId: AccountId, gateId: GateId): Promise<boolean> {
    return await changeAccount(this.#database, accountId, async (transaction) => {
      const previous = await find(transaction, accountId, gateId)
      if (previous === undefined) return false
      await transaction
        .deleteFrom('gates')
        .where('account_id', '=', accountId)
        .where('id', '=', gateId)
        .execute()
      const before = toPublicGate(previous)
      await recordChange(transaction, {
        accountId,
        action: 'gate.delete',
        resourceId: gateId,
        before,
        after: null,
      })
      return true
    })
  }
}

async function find(
  database: Kysely<Schema>,
  accountId: AccountId,
  gateId: GateId,
): Promise<Gate | undefined> {
  const row = await database
    .selectFrom('gates')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', gateId)
    .executeTakeFirst()
  return row === undefined ? undefined : toGate(row)
}

function toMutableColumns(gate: Gate): Omit<GateTable, 'account_id' | 'id' | 'created_at'> {
  return {
    display_name: gate.displayName,
    description: gate.description,
    targets: JSON.stringify(gate.targets),
    strategy: gate.strategy,
    hedge_after_ms: gate.hedgeAfterMs,
    defaults: gate.defaults === null ? null : JSON.stringify(gate.defaults),
    overrides: gate.overrides,
    timeout_ms: gate.timeoutMs,
    max_retries: gate.maxRetries,
    updated_at: gate.updatedAt,
  }
}

/** @param share for texts that many gates have in common */
function toGate(row: Selectable<GateTable>, share: TextSharing = (text) => text): Gate {
  const targets = JSON.parse(row.targets) as { model: string; weight?: number }[]
  for (const target of targets) target.model = share(target.model)
  return {
    accountId: share(row.account_id),
    id: row.id,
    // Where nobody has named it.
    displayName: row.display_name === row.id ? row.id : row.display_name,
    description: share(row.description),
    targets,
    strategy: share(row.strategy),
    hedgeAfterMs: row.hedge_after_ms,
    defaults: row.defaults === null ? null : (JSON.parse(row.defaults) as GateDefaults),
    overrides: share(row.overrides),
    timeoutMs: row.timeout_ms,
    maxRetries: row.max_retries,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
