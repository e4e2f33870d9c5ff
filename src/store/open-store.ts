/** Opens the store: one object with one part per aggregate. Knows nothing of who asks or of HTTP. */
import { Kysely, sql } from 'kysely'
import { AccountTableStore } from './accounts.ts'
import { AuditLogTableStore } from './audit-log.ts'
import { BudgetBeginnings } from './budget-beginnings.ts'
import { BudgetTableStore } from './budgets.ts'
import { CallTableStore } from './calls.ts'
import { GateTableStore } from './gates.ts'
import { InvitationTableStore } from './invitations.ts'
import { KeyTableStore } from './keys.ts'
import { MemberTableStore } from './members.ts'
import { assertUpToDate, migrateToLatest } from './migrations.ts'
import { OwnedModelTableStore } from './owned-models.ts'
import { ProviderKeyTableStore } from './provider-keys.ts'
import type { Schema } from './schema.ts'
import { BunSqliteDialect } from './sqlite-driver.ts'
import { UsageStore } from './usage.ts'
import { UsageBacklog } from './usage-backlog.ts'
import { UsageSums } from './usage-sums.ts'
import { UserTableStore } from './users.ts'
import { WebhookTableStore } from './webhooks.ts'

export interface Store {
  readonly keys: KeyTableStore
  readonly gates: GateTableStore
  readonly ownedModels: OwnedModelTableStore
  readonly calls: CallTableStore
  readonly providerKeys: ProviderKeyTableStore
  readonly auditLog: AuditLogTableStore
  readonly accounts: AccountTableStore
  readonly members: MemberTableStore
  readonly invitations: InvitationTableStore
  readonly users: UserTableStore
  /** For better-auth's adapter alone, which brings queries of its own for the tables of users. */
  readonly database: Kysely<Schema>
  readonly usageSums: UsageSums
  readonly budgets: BudgetTableStore
  readonly budgetBeginnings: BudgetBeginnings
  readonly webhooks: WebhookTableStore
  readonly usage: UsageStore
  /**
   * Resolves when everything committed so far would outlive a loss of power. A commit alone outlives the process:
   * SQLite's write-ahead log is synced at checkpoints only (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL).
   */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface StoreLocation {
  /** The SQLite file; created, with mode 0600, when missing. `:memory:` keeps everything in the process. */
  readonly path: string
  /** `refuse`: a schema that is not up to date is an error, because a server may be using it. */
  readonly migrate?: 'run' | 'refuse'
}

/**
 * Opens the database and brings its schema up to date.
 * @throws NewerDatabaseError, MigrationFailedError: refuse to serve.
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  const database = new Kysely<Schema>({ dialect: new BunSqliteDialect(location.path) })
  try {
    await (location.migrate === 'refuse' ? assertUpToDate(database) : migrateToLatest(database))
  } catch (error) {
    await database.destroy()
    throw error
  }
  const backlog = new UsageBacklog(database)
  const sync = async (): Promise<void> => {
    await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(database)
  }
  return {
    keys: new KeyTableStore(database, sync),
    gates: new GateTableStore(database),
    ownedModels: new OwnedModelTableStore(database),
    calls: new CallTableStore(database, backlog),
    providerKeys: new ProviderKeyTableStore(database, sync),
    auditLog: new AuditLogTableStore(database),
    accounts: new AccountTableStore(database),
    members: new MemberTableStore(database, sync),
    invitations: new InvitationTableStore(database),
    users: new UserTableStore(database, sync),
    database,
    usageSums: new UsageSums(database),
    budgets: new BudgetTableStore(database),
    budgetBeginnings: new BudgetBeginnings(database),
    webhooks: new WebhookTableStore(database),
    usage: new UsageStore(database, backlog),
    sync,
    close: () => database.destroy(),
  }
}
