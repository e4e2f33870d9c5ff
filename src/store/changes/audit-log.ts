/**
 * The audit log in the database. A change and its row share a transaction. Rows contain no secret.
 */
import type { Kysely, Selectable, Transaction } from 'kysely'
import { type AuditRecord, type Change, type PublicForm, resourceOf } from '../../core/audit.ts'
import { type AccountId, type AuditId, createAuditId } from '../../core/ids.ts'
import { type HourlyOptions, HourlyWork } from '../../core/passes.ts'
import type { KeptRows, RetentionHorizon } from '../../core/retention-horizon.ts'
import { countChange } from '../installation/installation.ts'
import type { Schema } from '../schema.ts'
import type { AuditLogTable } from './audit-schema.ts'
import { currentOrigin } from './change-origin.ts'
import { noteChangeOf } from './changes-made.ts'
import { assertPrecondition } from './precondition.ts'

const MOST_ADDRESS_CHARACTERS = 100
const ROWS_PER_BATCH = 50
const PAUSE_MS = 10

export async function recordChange(
  transaction: Transaction<Schema>,
  change: Change,
): Promise<void> {
  await assertPrecondition(transaction, change)
  const row = toAuditRow(change)
  noteChangeOf(row.resource_type)
  await countChange(transaction)
  await transaction.insertInto('audit_log').values(row).execute()
}

export function toAuditRow(change: Change) {
  const origin = currentOrigin()
  const actor = change.actor ?? origin.actor
  if (actor === null) throw new Error(`nobody is known to have made the change ${change.action}`)
  return {
    id: createAuditId(),
    account_id: change.accountId,
    at: Date.now(),
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    action: change.action,
    resource_type: resourceOf(change.action),
    resource_id: change.resourceId,
    before_json: toText(change.before),
    after_json: toText(change.after),
    request_id: origin.requestId,
    client_address: origin.clientAddress?.slice(0, MOST_ADDRESS_CHARACTERS) ?? null,
  }
}

export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: AuditRecord['action'] | undefined
  readonly resourceType?: string | undefined
  readonly resourceId?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface AuditPage {
  readonly limit: number
  readonly before?: { readonly at: number; readonly id: string } | undefined
}

export class AuditLogTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async list(accountId: AccountId, filter: AuditFilter, page: AuditPage): Promise<AuditRecord[]> {
    const { actor, action, resourceType, resourceId, from, to } = filter
    let query = this.#database
      .selectFrom('audit_log')
      .selectAll()
      .where('account_id', '=', accountId)
    if (actor !== undefined) query = query.where('actor_id', '=', actor)
    if (action !== undefined) query = query.where('action', '=', action)
    if (resourceType !== undefined) query = query.where('resource_type', '=', resourceType)
    if (resourceId !== undefined) query = query.where('resource_id', '=', resourceId)
    if (from !== undefined) query = query.where('at', '>=', from)
    if (to !== undefined) query = query.where('at', '<', to)
    const { before } = page
    if (before !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('at', 'id'), '<', tuple(before.at, before.id as AuditId)),
      )
    }
    const rows = await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(page.limit).execute()
    return rows.map(toRecord)
  }

  async findBounds(): Promise<KeptRows | undefined> {
    const at = this.#database.selectFrom('audit_log').select('at').limit(1)
    const oldest = await at.orderBy('at').executeTakeFirst()
    const newest = await at.orderBy('at', 'desc').executeTakeFirst()
    return oldest && newest && { oldestMs: oldest.at, newestMs: newest.at }
  }

  async deleteBefore(timeMs: number, limit: number): Promise<number> {
    const result = await this.#database
      .deleteFrom('audit_log')
      .where('id', 'in', (old) =>
        old
          .selectFrom('audit_log')
          .select('id')
          .where('at', '<', timeMs)
          .orderBy('at')
          .limit(limit),
      )
      .executeTakeFirst()
    return Number(result.numDeletedRows)
  }
}

function toText(form: PublicForm | null): string | null {
  return form === null ? null : JSON.stringify(form)
}

function toForm(text: string | null): PublicForm | null {
  return text === null ? null : (JSON.parse(text) as PublicForm)
}

function toRecord(row: Selectable<AuditLogTable>): AuditRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    at: row.at,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    before: toForm(row.before_json),
    after: toForm(row.after_json),
    requestId: row.request_id,
    clientAddress: row.client_address,
  }
}

interface AuditRetentionOptions extends HourlyOptions {
  readonly horizon: Pick<RetentionHorizon, 'cut'>
  readonly auditLog: Pick<AuditLogTableStore, 'findBounds' | 'deleteBefore'>
}

export class AuditRetention extends HourlyWork {
  readonly #options: AuditRetentionOptions

  constructor(options: AuditRetentionOptions) {
    super(options)
    this.#options = options
  }

  override async run(): Promise<number> {
    const { auditLog, horizon } = this.#options
    const bounds = await auditLog.findBounds()
    const before = bounds && horizon.cut(bounds)
    if (before === undefined) return 0
    let deleted = 0
    for (;;) {
      const count = await auditLog.deleteBefore(before, ROWS_PER_BATCH)
      deleted += count
      if (count < ROWS_PER_BATCH || this.signal.aborted) return deleted
      await Bun.sleep(PAUSE_MS)
    }
  }
}
