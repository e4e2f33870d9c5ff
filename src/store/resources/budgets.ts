import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import {
  AT_LIMIT_RULES,
  BUDGET_SCOPES,
  type Budget,
  type BudgetRaise,
  type BudgetScope,
  toLedgerScope,
  toPublicBudget,
  UNPRICED_RULES,
} from '../../core/budget.ts'
import type { Fuse } from '../../core/fuse.ts'
import type { GateId } from '../../core/ids.ts'
import type { AccountCaps } from '../../core/plan.ts'
import type { NamedThing } from '../database/find-some.ts'
import { isSqlite, POSTGRES_CLOCK_MS } from '../database/sql-differences.ts'
import type { BudgetTable, Schema } from '../schema.ts'
import { ResourceStore, type StoredKind } from './resource-store.ts'
import { deleteFusedStops } from './stops.ts'

const budgetKind: StoredKind<'budget', Budget, Budget> = {
  word: 'budget',
  idColumn: 'id',
  mayClash: false,
  nameOf: (budget) => budget,
  toRow: (budget) => ({
    id: budget.id,
    account_id: budget.accountId,
    ...toScopeColumns(budget.scope),
    period: budget.period,
    time_zone: budget.timeZone ?? null,
    created_at: budget.createdAt,
    ...toMutableColumns(budget),
  }),
  toChanges: toMutableColumns,
  createReader: () => toBudget,
  toPublic: toPublicBudget,
  async changeBelongings(transaction, changed, previous) {
    if (alertsOf(changed) !== alertsOf(previous)) await forgetAlerts(transaction, changed)
    if (changed.fuse == null && previous.fuse != null) await forgetStops(transaction, changed)
  },
  async deleteBelongings(transaction, name) {
    await forgetAlerts(transaction, name)
    await forgetStops(transaction, name)
  },
}

function alertsOf({ limit, raise, alertAt }: Budget): string {
  return JSON.stringify([limit, raise, alertAt])
}

async function forgetAlerts(
  transaction: Transaction<Schema>,
  { accountId, id }: NamedThing,
): Promise<void> {
  await transaction
    .deleteFrom('budget_alerts')
    .where('account_id', '=', accountId)
    .where('budget_id', '=', id)
    .execute()
}

function forgetStops(
  transaction: Transaction<Schema>,
  { accountId, id }: NamedThing,
): Promise<void> {
  return deleteFusedStops(transaction, accountId, { type: 'budget', id })
}

export class BudgetTableStore extends ResourceStore<'budget', Budget> {
  constructor(database: Kysely<Schema>, caps?: AccountCaps) {
    super(database, budgetKind, caps)
  }

  /**
   * The clock that all nodes share, in milliseconds since the Unix epoch; undefined on SQLite,
   * which has one process.
   */
  async sharedNowMs(): Promise<number | undefined> {
    if (isSqlite(this.database)) return undefined
    const { rows } = await sql<{ ms: number }>`
      SELECT ${sql.raw(POSTGRES_CLOCK_MS)} AS ms
    `.execute(this.database)
    return rows[0]?.ms
  }
}

function toMutableColumns(budget: Budget) {
  const { limit } = budget
  return {
    name: budget.name,
    limit_tokens: limit.type === 'tokens' ? limit.tokens : null,
    limit_nano_usd: limit.type === 'spend' ? limit.nanoUsd : null,
    alert_at: JSON.stringify(budget.alertAt),
    unpriced: budget.unpriced,
    message: budget.message ?? null,
    raise: budget.raise == null ? null : JSON.stringify(budget.raise),
    at_limit: budget.atLimit ?? null,
    refuse_at: budget.refuseAt ?? null,
    fuse: budget.fuse == null ? null : JSON.stringify(budget.fuse),
    updated_at: budget.updatedAt,
  }
}

function toScopeColumns(scope: BudgetScope) {
  const { keyId = null, gateId = null, userId, tagId } = toLedgerScope(scope)
  const isNew = keyId === null && gateId === null
  return {
    key_id: keyId,
    // Older versions need a key or a gate: they read the other scopes as a gate that does not exist.
    gate_id: isNew ? ('' as GateId) : gateId,
    scope: isNew ? scope.type : null,
    scope_id: userId ?? tagId ?? null,
    scope_name:
      scope.type === 'tag' ? scope.tag : scope.type === 'user' ? (scope.endUser ?? null) : null,
  }
}

export const SCOPE_COLUMNS = [
  'id',
  'scope',
  'key_id',
  'gate_id',
  'scope_id',
  'scope_name',
] as const satisfies readonly (keyof BudgetTable)[]

export function toScope(
  row: Pick<Selectable<BudgetTable>, (typeof SCOPE_COLUMNS)[number]>,
): BudgetScope {
  const { scope, key_id, gate_id, scope_id, scope_name } = row
  if (key_id !== null) return { type: 'key', keyId: key_id }
  const type = BUDGET_SCOPES.find((known) => known === scope)
  switch (type) {
    case 'account':
    case 'each-user':
    case 'each-key':
      return { type }
    case 'user':
      return {
        ...{ type, userId: scope_id ?? '' },
        ...(scope_name === null ? {} : { endUser: scope_name }),
      }
    case 'tag':
      return { type, tag: scope_name ?? '', tagId: scope_id ?? '' }
    default:
      if (gate_id === null) throw new Error(`the budget ${row.id} has no scope`)
      return { type: 'gate', gateId: gate_id }
  }
}

function toBudget(row: Selectable<BudgetTable>): Budget {
  return {
    accountId: row.account_id,
    id: row.id,
    name: row.name,
    scope: toScope(row),
    limit:
      row.limit_tokens === null
        ? { type: 'spend', nanoUsd: row.limit_nano_usd ?? 0 }
        : { type: 'tokens', tokens: row.limit_tokens },
    period: row.period,
    ...(row.time_zone === null ? {} : { timeZone: row.time_zone }),
    unpriced: UNPRICED_RULES.find((rule) => rule === row.unpriced) ?? 'allow',
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.raise === null ? {} : { raise: JSON.parse(row.raise) as BudgetRaise }),
    // An unknown rule of a later version refuses.
    ...(row.at_limit === null
      ? {}
      : { atLimit: AT_LIMIT_RULES.find((rule) => rule === row.at_limit) ?? 'refuse' }),
    ...(row.refuse_at === null ? {} : { refuseAt: row.refuse_at }),
    ...(row.fuse === null ? {} : { fuse: JSON.parse(row.fuse) as Fuse }),
    alertAt: JSON.parse(row.alert_at) as number[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
