/**
 * The tables for Kysely, with only the types that SQLite and Postgres share: integers for times
 * (milliseconds since the Unix epoch) and booleans (0, 1), text for JSON.
 */
import type { Generated } from 'kysely'
import type { NamedKind, PeopleFigures } from '../core/attribution.ts'
import type { CallCredential } from '../core/call.ts'
import type { OwnedModelDialect } from '../core/dialects.ts'
import type { AdaptMode, Overrides, Strategy } from '../core/gate.ts'
import type { AccountId, GateId, KeyId } from '../core/ids.ts'
import type { CredentialHeader, OwnedModel } from '../core/owned-model.ts'
import type { Period } from '../core/period.ts'
import type { CallTable } from './calls/call-rows.ts'
import type { AuditLogTable } from './changes/audit-schema.ts'
import type { UserSchema } from './users/user-schema.ts'

export interface Schema extends UserSchema {
  readonly accounts: AccountTable
  readonly api_keys: ApiKeyTable
  readonly deleted_keys: DeletedKeyTable
  readonly stops: StopTable
  readonly ended_calls: EndedCallsTable
  readonly gates: GateTable
  readonly owned_models: OwnedModelTable
  readonly calls: CallTable
  readonly provider_keys: ProviderKeyTable
  readonly audit_log: AuditLogTable
  readonly budgets: BudgetTable
  readonly budget_alerts: BudgetAlertTable
  readonly webhooks: WebhookTable
  readonly webhook_deliveries: WebhookDeliveryTable
  readonly usage_hours: UsageTable
  readonly usage_days: UsageTable
  readonly user_days: UserDayTable
  readonly tag_days: TagDayTable
  readonly call_sessions: CallSessionTable
  readonly attribution: AttributionTable
  readonly caller_names: CallerNameTable
  readonly erased_users: ErasedUserTable
  readonly refused_hours: RefusedTable
  readonly upkeep: UpkeepTable
  readonly price_entries: PriceEntryTable
  readonly model_prices: ModelPriceTable
  readonly installation: InstallationTable
  readonly tags: TagTable
}

/** Entries of the configuration file that costs came from, for all accounts. */
export interface PriceEntryTable {
  /** The hash that a cost's source contains. */
  hash: string
  /** JSON. */
  entry: string
  first_used_at: number
}

/** Prices that the operator stored at run time. */
export interface ModelPriceTable {
  account_id: AccountId
  /** `provider/model`. */
  model: string
  /** JSON: `like` and `prices`. */
  price: string
  created_at: number
  updated_at: number
}

export interface InstallationTable {
  place: number
  id: string
  /** SQLite only. Postgres uses the table `change_counter`. */
  change_number: number
  master_key_id: string | null
  moved_to: string | null
  created_at: number
}

export interface AccountTable {
  id: AccountId
  name: string
  created_at: number
  /** The plan's name, defined by the operator; null for the plan of new accounts. */
  plan: Generated<string | null>
}

export interface ApiKeyTable {
  id: KeyId
  account_id: AccountId
  name: string
  sha256: string
  masked_prefix: string
  created_at: number
  last_used_at: number | null
  /** The id of a user or a key, or `operator`; null for rows of an older version. */
  created_by: Generated<string | null>
  expires_at: Generated<number | null>
  /** Null together with the two columns below, when the key has no previous text. */
  previous_sha256: Generated<string | null>
  previous_masked_prefix: Generated<string | null>
  previous_ends_at: Generated<number | null>
  /** The rules of an access token, as JSON; null for an API key. */
  token: Generated<string | null>
  /** The member whom the key's calls count for; null: none. */
  fixed_user: Generated<string | null>
  /** JSON: `["team-a", "repo:gatehouse"]`; null: none. */
  fixed_tags: Generated<string | null>
  /** The `expires_at` that the event `token.expiring` announced; null: none was announced. */
  announced_end: Generated<number | null>
}

/** The hash of a deleted or replaced key; written by a trigger. */
export interface DeletedKeyTable {
  sha256: string
  account_id: AccountId
  key_id: KeyId
  deleted_at: number
  /**
   * The deleted key's name, for its calls and usage; null for a rotation, or a deletion by an older
   * version.
   */
  name: Generated<string | null>
}

export interface GateTable {
  account_id: AccountId
  id: GateId
  display_name: string
  description: string
  /** JSON: `[{"model": "provider/model", "weight": 1}]`; the weight is optional. */
  targets: string
  strategy: Strategy
  hedge_after_ms: number | null
  /** JSON: `{"temperature": 0.2}`; null without defaults. */
  defaults: string | null
  overrides: Overrides
  /** JSON: `[{"name": "openai/gpt-4.1", "isListed": true}]`; null: none. */
  aliases: string | null
  is_catch_all: number
  /** JSON: `{"contextTokens": 200000}`; null: none. */
  facts: string | null
  codex_instructions: string | null
  /** 0 or 1. */
  usage_headers: number
  adapt: AdaptMode
  /** 0 or 1. */
  ignore_store: number
  budget_headers: number
  /** JSON: `{"usd": 5, "callsPerMinute": null, "forMinutes": 5}`; null: none. */
  fuse: string | null
  timeout_ms: number | null
  max_retries: number
  created_at: number
  updated_at: number
}

export interface OwnedModelTable {
  account_id: AccountId
  slug: string
  display_name: string
  dialect: OwnedModelDialect
  base_url: string
  upstream_model_id: string
  /** Whole US cents per million tokens, like the two columns below. */
  pricing_input: number
  pricing_output: number
  pricing_cached_input: number
  /**
   * Encrypted under the master key, bound to account and slug (core/vault.ts). Empty for a missing
   * credential.
   */
  sealed_credential: string
  credential_set_at: number
  created_at: number
  updated_at: number
  credential_header: Generated<CredentialHeader>
  /** JSON; null before the first probe. */
  probe: Generated<string | null>
  fim_endpoint: Generated<OwnedModel['fimEndpoint']>
  fim_template: Generated<OwnedModel['fimTemplate']>
  no_credential_since: Generated<number | null>
}

/** Counters of the usage of several calls. */
export interface CounterColumns {
  calls: number
  failed: number
  cancelled: number
  unreported: number
  input_tokens: number
  output_tokens: number
  cached_input_tokens: number
  reasoning_tokens: number
  cache_write_tokens: number
  cost_nano_usd: number
  cost_estimated: number
  cost_unknown: number
}

/** Counters of sums without the dimensions that tell refused calls from other failures. */
export interface CallerCounters extends CounterColumns {
  /** Part of `failed`: calls with a 4xx before any upstream was asked. Not counted before step 0026. */
  refused: number
}

/**
 * A key's use of a target through a gate in an hour or a day, by status class. Every call counts in
 * a row of `usage_hours` and in a row of `usage_days`.
 */
export interface UsageTable extends CounterColumns {
  account_id: AccountId
  /** The beginning of the hour or the day (UTC), in milliseconds since the Unix epoch. */
  starts_at: number
  gate_id: GateId
  /** Empty when no upstream was asked. */
  target: string
  key_id: KeyId
  /** 2 for statuses 200 to 299, and so on. */
  status_class: number
  /**
   * The owner of the credential used for the target; empty when no upstream was asked, or unknown.
   */
  credential: CallCredential | ''
  /** Histograms as text: call durations and times to first byte. */
  durations: string
  first_bytes: string
}

/** A user's usage on a day (decision 0121). */
export interface UserDayTable extends CallerCounters {
  account_id: AccountId
  /** The beginning of the day (UTC), in milliseconds since the Unix epoch. */
  starts_at: number
  /** A member's id, or `end:` and a hash. */
  user_id: string
}

/** The usage of a tag's calls on a day. A call with two tags counts in two rows. */
export interface TagDayTable extends CallerCounters {
  account_id: AccountId
  starts_at: number
  /** The tag's hash; empty for the calls with any tag, each once. */
  tag_id: string
}

/** The usage of a session. */
export interface CallSessionTable extends CallerCounters {
  account_id: AccountId
  /** The hash of caller and session. */
  session_id: string
  key_id: KeyId
  /** The user of the latest call with a user; null: no call has a user. */
  user_id: string | null
  /** Milliseconds since the Unix epoch: the start of the first and of the latest call. */
  first_at: number
  last_at: number
  /** Input tokens of the call with the largest input. */
  largest_input: number
}

/** An account's settings of attribution (decision 0121). */
export interface AttributionTable {
  account_id: AccountId
  /** Encrypted by the vault, bound to the account; see encrypted-columns.ts. */
  sealed_hash_key: string
  members_and_tags: number
  sessions: number
  end_users: number
  people_figures: PeopleFigures
  updated_at: number
}

/** The name behind a hash in the ledger. */
export interface CallerNameTable {
  account_id: AccountId
  kind: NamedKind
  /** As in the ledger's columns: a member's id, `end:` and a hash, or a tag's hash. */
  hash: string
  name: string
  /** Milliseconds since the Unix epoch, rounded down to a day. */
  last_seen_at: number
}

/** An end user whose calls and sums count for `(erased)`. */
export interface ErasedUserTable {
  /** `end:` and a hash. */
  user_id: string
  account_id: AccountId
  /** Milliseconds since the Unix epoch. */
  erased_at: number
  /** Null until all stored calls, sums and sessions are moved. */
  finished_at: number | null
}

/** A key's calls to a gate that were refused for one reason, in an hour. */
export interface RefusedTable {
  account_id: AccountId
  starts_at: number
  gate_id: GateId
  key_id: KeyId
  status: number
  error_kind: string
  calls: number
}

export interface UpkeepTable {
  name: string
  done_at: number
}

export interface ProviderKeyTable {
  account_id: AccountId
  provider: string
  /** Encrypted by the vault, bound to the account and the provider; see encrypted-columns.ts. */
  sealed_key: string
  masked_key: string
  active: number
  created_at: number
  updated_at: number
  last_used_at: number | null
}

/** Exactly one of the two limits is set. */
export interface BudgetTable {
  id: string
  account_id: AccountId
  name: string
  key_id: KeyId | null
  /** Empty for a budget of neither a key nor a gate. */
  gate_id: GateId | null
  /** Null for a budget of a key or a gate. */
  scope: Generated<string | null>
  /** As in the ledger: a user's id or a tag's hash; null for other scopes. */
  scope_id: Generated<string | null>
  /** The name of an end user, or the text of a tag; null for other scopes. */
  scope_name: Generated<string | null>
  limit_tokens: number | null
  limit_nano_usd: number | null
  period: Period
  /** JSON: `[0.5, 0.8, 1]`. */
  alert_at: string
  /** `refuse` or `allow`; null for older budgets, meaning `allow`. */
  unpriced: Generated<string | null>
  message: Generated<string | null>
  /** JSON: `{"by": 50000000000, "untilMs": 1796000000000}`; null: none. */
  raise: Generated<string | null>
  /** Null: `refuse`. */
  at_limit: Generated<string | null>
  refuse_at: Generated<number | null>
  /** JSON, as in gates; null: none. */
  fuse: Generated<string | null>
  /** IANA name; null: UTC. */
  time_zone: Generated<string | null>
  /**
   * The budget's usage on the day of its creation, as far as hourly usage is deleted; null before.
   * The same holds for the two columns below.
   */
  first_tokens: Generated<number | null>
  first_nano_usd: Generated<number | null>
  first_unpriced: Generated<number | null>
  created_at: number
  updated_at: number
}

export interface BudgetAlertTable {
  budget_id: string
  account_id: AccountId
  period_starts_at: number
  threshold_millionths: number
  created_at: number
}

export interface WebhookTable {
  id: string
  account_id: AccountId
  url: string
  /** Encrypted by the vault, bound to the webhook; see encrypted-columns.ts. */
  sealed_secret: string
  /** JSON: `["budget.exhausted"]`. */
  events: string
  active: number
  created_at: number
  updated_at: number
}

/** A stopped member or access token. */
export interface StopTable {
  /** The id of the user or the key. */
  id: string
  account_id: AccountId
  reason: string | null
  created_at: number
  created_by: string | null
}

/** Calls that a node has ended because of a deleted key or a stop; rows stay for an hour. */
export interface EndedCallsTable {
  /** The id of the key, or of the stopped user or token. */
  id: string
  node_id: string
  calls: number
  at: number
}

export interface TagTable {
  id: string
  account_id: AccountId
  name: string
  description: string
  created_at: number
  /** JSON: ids of members; null: none. */
  members: Generated<string | null>
}

export interface WebhookDeliveryTable {
  id: string
  account_id: AccountId
  webhook_id: string
  event: string
  /** The exact text of the request body. */
  body: string
  attempts: number
  next_attempt_at: number
  created_at: number
}
