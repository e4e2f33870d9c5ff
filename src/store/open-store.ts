import { type Kysely, sql } from 'kysely'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../core/plan.ts'
import { CallerNameStore } from './calls/caller-names.ts'
import { CallTableStore } from './calls/calls.ts'
import { PriceEntryStore } from './calls/price-entries.ts'
import { AuditLogTableStore } from './changes/audit-log.ts'
import { CheckpointThread } from './database/checkpoint-thread.ts'
import { giveBackSpace } from './database/free-space.ts'
import {
  openDatabase,
  openReader,
  type PostgresLocation,
  type StoreLocation,
  withoutStatementLimit,
} from './database/open-database.ts'
import { isSqlite } from './database/sql-differences.ts'
import { watchFile } from './database/sqlite-driver.ts'
import { InstallationTableStore } from './installation/installation.ts'
import { assertUpToDate, compareSteps, migrateToLatest } from './migrations/migrations.ts'
import { AttributionTableStore } from './resources/attribution.ts'
import { BudgetTableStore } from './resources/budgets.ts'
import { GateTableStore } from './resources/gates.ts'
import { KeyTableStore } from './resources/keys.ts'
import { ModelPriceTableStore } from './resources/model-prices.ts'
import { OwnedModelTableStore } from './resources/owned-models.ts'
import { openPlainStores, type PlainStores } from './resources/plain-kinds.ts'
import { ProviderKeyTableStore } from './resources/provider-keys.ts'
import { StopTableStore } from './resources/stops.ts'
import { WebhookTableStore } from './resources/webhooks.ts'
import type { Schema } from './schema.ts'
import { BudgetBeginnings } from './usage/budget-beginnings.ts'
import { EndUserStore } from './usage/end-users.ts'
import { SessionStore } from './usage/sessions.ts'
import { UsageStore } from './usage/usage.ts'
import { UsageSums } from './usage/usage-sums.ts'
import { AccountTableStore } from './users/accounts.ts'
import { InvitationTableStore } from './users/invitations.ts'
import { MemberTableStore } from './users/members.ts'
import { SignInTriesStore } from './users/sign-in-tries.ts'
import { UserTableStore } from './users/users.ts'

export interface Store {
  readonly keys: KeyTableStore
  readonly stops: StopTableStore
  readonly attribution: AttributionTableStore
  readonly callerNames: CallerNameStore
  readonly gates: GateTableStore
  readonly modelPrices: ModelPriceTableStore
  readonly ownedModels: OwnedModelTableStore
  readonly calls: CallTableStore
  readonly providerKeys: ProviderKeyTableStore
  readonly auditLog: AuditLogTableStore
  readonly accounts: AccountTableStore
  readonly members: MemberTableStore
  readonly invitations: InvitationTableStore
  readonly users: UserTableStore
  readonly signInTries: SignInTriesStore
  /** Only for better-auth's adapter, which has its own queries for the tables of users. */
  readonly database: Kysely<Schema>
  readonly usageSums: UsageSums
  readonly budgets: BudgetTableStore
  readonly budgetBeginnings: BudgetBeginnings
  readonly webhooks: WebhookTableStore
  readonly priceEntries: PriceEntryStore
  readonly plain: PlainStores
  readonly usage: UsageStore
  readonly sessions: SessionStore
  readonly endUsers: EndUserStore
  readonly installation: InstallationTableStore
  /**
   * Compatible migrations of later versions in the database. This build ignores their additions.
   */
  readonly newerSteps: readonly string[]
  /**
   * Resolves when everything committed so far survives a power loss. SQLite syncs its write-ahead
   * log only at checkpoints (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL).
   */
  sync(): Promise<void>
  giveBackSpace(options: Parameters<typeof giveBackSpace>[1]): Promise<number>
  assertThere(): void
  close(): Promise<void>
}

export interface OpenStoreOptions {
  /**
   * `refuse`: an outdated schema is an error, because a server may be using the database. Default:
   * `run`.
   */
  readonly migrate?: 'run' | 'refuse'
  readonly caps?: AccountCaps
}

/**
 * Opens the database and migrates its schema.
 * @throws EarlierDatabaseError, NewerDatabaseError, MigrationFailedError, DatabaseUnreachableError,
 * SharedSessionsError
 */
export async function openStore(
  location: StoreLocation,
  { migrate = 'run', caps = DEFAULT_ACCOUNT_CAPS }: OpenStoreOptions = {},
): Promise<Store> {
  // Checked before any table is created in the database.
  if (migrate === 'run' && !('path' in location)) await assertSessions(location)
  const database = await openDatabase(location)
  let newerSteps: readonly string[]
  try {
    if (migrate === 'refuse') await assertUpToDate(database)
    let schema = await compareSteps(database)
    if (migrate === 'run' && schema.isBehind) {
      await migrateAt(location, database)
      schema = await compareSteps(database)
    }
    newerSteps = schema.newer
  } catch (error) {
    await database.destroy()
    throw error
  }
  const assertThere = 'path' in location ? watchFile(location.path) : () => {}
  const checkpoints =
    'path' in location && location.path !== ':memory:'
      ? new CheckpointThread(database, location.path)
      : undefined
  const sync = async (): Promise<void> => {
    // Postgres has written a commit to disk when it answers.
    if (checkpoints !== undefined) await checkpoints.sync()
    else if (isSqlite(database)) await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(database)
  }
  // SQLite has one connection, which a read at one moment would take from writes, such as the
  // deletion of a key, for as long as the read takes.
  const moments =
    'path' in location && location.path !== ':memory:' ? openReader(location) : database
  return {
    keys: new KeyTableStore(database, sync, caps),
    stops: new StopTableStore(database, sync),
    attribution: new AttributionTableStore(database),
    callerNames: new CallerNameStore(database),
    gates: new GateTableStore(database, caps),
    modelPrices: new ModelPriceTableStore(database),
    ownedModels: new OwnedModelTableStore(database, caps),
    calls: new CallTableStore(database),
    providerKeys: new ProviderKeyTableStore(database, sync),
    auditLog: new AuditLogTableStore(database),
    accounts: new AccountTableStore(database),
    members: new MemberTableStore(database, sync),
    invitations: new InvitationTableStore(database, caps),
    users: new UserTableStore(database, sync, caps),
    signInTries: new SignInTriesStore(database),
    database,
    usageSums: new UsageSums(database),
    budgets: new BudgetTableStore(database, caps),
    budgetBeginnings: new BudgetBeginnings(database),
    webhooks: new WebhookTableStore(database, caps),
    priceEntries: new PriceEntryStore(database),
    plain: openPlainStores(database, caps),
    usage: new UsageStore(database, moments),
    sessions: new SessionStore(database),
    endUsers: new EndUserStore(database),
    installation: new InstallationTableStore(database),
    newerSteps,
    sync,
    giveBackSpace: (options) => giveBackSpace(database, options),
    assertThere,
    async close() {
      await checkpoints?.close()
      if (moments !== database) await moments.destroy()
      await database.destroy()
    },
  }
}

async function assertSessions({ postgres }: PostgresLocation): Promise<void> {
  const { assertOwnSessions } = await import('./database/session-pooling.ts')
  await assertOwnSessions(postgres)
}

/**
 * Migrations may exceed the usual statement timeout, and wait for another node that is migrating.
 */
async function migrateAt(location: StoreLocation, database: Kysely<Schema>): Promise<void> {
  if ('path' in location) {
    await migrateToLatest(database)
    return
  }
  const unhurried = await openDatabase(withoutStatementLimit(location))
  try {
    await migrateToLatest(unhurried)
  } finally {
    await unhurried.destroy()
  }
}
