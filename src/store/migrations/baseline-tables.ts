/** Tables and indexes of the first release, in SQL that SQLite and Postgres share. */

function usageTable(name: string): string {
  return `CREATE TABLE ${name} (
  account_id text NOT NULL,
  starts_at bigint NOT NULL,
  gate_id text NOT NULL,
  target text NOT NULL,
  key_id text NOT NULL,
  status_class integer NOT NULL,
  credential text NOT NULL,
  calls bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  unreported bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  cost_nano_usd bigint NOT NULL,
  cost_estimated bigint NOT NULL,
  cost_unknown bigint NOT NULL,
  durations text NOT NULL,
  first_bytes text NOT NULL,
  CONSTRAINT ${name}_primary_key
    PRIMARY KEY (account_id, starts_at, gate_id, target, key_id, status_class, credential)
) WITHOUT ROWID;`
}

/** Calls, usage and the audit log outlive other rows, so these tables have no foreign keys. */
const TABLES = `
CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at bigint NOT NULL,
  plan text
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  sha256 text NOT NULL UNIQUE,
  masked_prefix text NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  created_by text,
  expires_at bigint,
  previous_sha256 text,
  previous_masked_prefix text,
  previous_ends_at bigint
);
CREATE INDEX api_keys_by_account ON api_keys (account_id);

CREATE TABLE gates (
  account_id text NOT NULL REFERENCES accounts (id),
  id text NOT NULL,
  display_name text NOT NULL,
  description text NOT NULL,
  targets text NOT NULL,
  timeout_ms bigint,
  max_retries integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  strategy text DEFAULT 'fallback' NOT NULL,
  hedge_after_ms bigint,
  defaults text,
  overrides text DEFAULT 'ignore' NOT NULL,
  CONSTRAINT gates_primary_key PRIMARY KEY (account_id, id)
);

CREATE TABLE calls (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  key_id text NOT NULL,
  gate_id text NOT NULL,
  dialect text NOT NULL,
  stream integer NOT NULL,
  target text,
  attempts integer NOT NULL,
  outcome text NOT NULL,
  status integer NOT NULL,
  error_kind text,
  started_at bigint NOT NULL,
  first_byte_ms bigint,
  duration_ms bigint NOT NULL,
  input_tokens bigint,
  output_tokens bigint,
  cached_input_tokens bigint,
  reasoning_tokens bigint,
  credential text,
  cache_write_tokens bigint,
  attempt_details text,
  cost_nano_usd bigint,
  cost_status text DEFAULT 'unknown' NOT NULL,
  price_source text,
  refusals bigint,
  sent_gate_id text,
  refusal_code text,
  refused_by text
);
CREATE INDEX calls_gone_wrong ON calls (account_id, started_at, id)
  WHERE outcome <> 'succeeded' OR status >= 400;
CREATE INDEX calls_in_order ON calls (account_id, started_at, id, key_id, gate_id);

CREATE TABLE owned_models (
  account_id text NOT NULL REFERENCES accounts (id),
  slug text NOT NULL,
  display_name text NOT NULL,
  dialect text NOT NULL,
  base_url text NOT NULL,
  upstream_model_id text NOT NULL,
  pricing_input integer NOT NULL,
  pricing_output integer NOT NULL,
  pricing_cached_input integer NOT NULL,
  sealed_credential text NOT NULL,
  credential_set_at bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  credential_header text DEFAULT 'auto' NOT NULL,
  probe text,
  fim_endpoint text DEFAULT 'auto' NOT NULL,
  fim_template text DEFAULT 'auto' NOT NULL,
  no_credential_since bigint,
  CONSTRAINT owned_models_primary_key PRIMARY KEY (account_id, slug)
);

CREATE TABLE provider_keys (
  account_id text NOT NULL REFERENCES accounts (id),
  provider text NOT NULL,
  sealed_key text NOT NULL,
  masked_key text NOT NULL,
  active integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  last_used_at bigint,
  CONSTRAINT provider_keys_primary_key PRIMARY KEY (account_id, provider)
);

CREATE TABLE budgets (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  name text NOT NULL,
  key_id text,
  gate_id text,
  limit_tokens bigint,
  limit_nano_usd bigint,
  period text NOT NULL,
  alert_at text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  first_tokens bigint,
  first_nano_usd bigint,
  first_unpriced bigint,
  unpriced text
);
CREATE INDEX budgets_by_account ON budgets (account_id);

CREATE TABLE budget_alerts (
  budget_id text NOT NULL,
  account_id text NOT NULL,
  period_starts_at bigint NOT NULL,
  threshold_millionths integer NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT budget_alerts_primary_key
    PRIMARY KEY (budget_id, period_starts_at, threshold_millionths)
);

CREATE TABLE webhooks (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  url text NOT NULL,
  sealed_secret text NOT NULL,
  events text NOT NULL,
  active integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX webhooks_by_account ON webhooks (account_id);

CREATE TABLE webhook_deliveries (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  webhook_id text NOT NULL,
  event text NOT NULL,
  body text NOT NULL,
  attempts integer NOT NULL,
  next_attempt_at bigint NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (next_attempt_at, id);
CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries (account_id);
${usageTable('usage_hours')}
${usageTable('usage_days')}

CREATE TABLE users (
  id text PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL UNIQUE,
  email_verified boolean NOT NULL,
  image text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE user_sessions (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token text NOT NULL UNIQUE,
  ip_address text,
  user_agent text,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX user_sessions_by_user ON user_sessions (user_id);

CREATE TABLE user_logins (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  issuer text NOT NULL,
  subject text NOT NULL,
  provider_id text NOT NULL,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT user_logins_by_subject UNIQUE (issuer, subject)
);
CREATE INDEX user_logins_by_user ON user_logins (user_id);

CREATE TABLE user_verifications (
  id text PRIMARY KEY,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX user_verifications_by_identifier ON user_verifications (identifier);

CREATE TABLE members (
  user_id text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  account_id text NOT NULL REFERENCES accounts (id),
  role text NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX members_by_account ON members (account_id);
CREATE UNIQUE INDEX members_one_owner ON members (account_id) WHERE role = 'owner';

CREATE TABLE invitations (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  email text NOT NULL,
  token_sha256 text NOT NULL UNIQUE,
  invited_by text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  accepted_at bigint
);
CREATE INDEX invitations_by_account ON invitations (account_id, created_at);

CREATE TABLE audit_log (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  at bigint NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  actor_name text,
  action text NOT NULL,
  resource_type text NOT NULL,
  resource_id text NOT NULL,
  before_json text,
  after_json text,
  request_id text,
  client_address text
);
CREATE INDEX audit_log_by_account_and_time ON audit_log (account_id, at, id);
CREATE INDEX audit_log_by_actor ON audit_log (account_id, actor_id, at, id);
CREATE INDEX audit_log_by_action ON audit_log (account_id, action, at, id);
CREATE INDEX audit_log_by_resource_type ON audit_log (account_id, resource_type, at, id);
CREATE INDEX audit_log_by_resource ON audit_log (account_id, resource_id, at, id);
CREATE INDEX audit_log_by_time ON audit_log (at);

CREATE TABLE deleted_keys (
  sha256 text PRIMARY KEY,
  account_id text NOT NULL,
  key_id text NOT NULL,
  deleted_at bigint NOT NULL,
  name text
);
CREATE INDEX deleted_keys_by_id ON deleted_keys (account_id, key_id);

CREATE TABLE sign_in_tries (
  name text PRIMARY KEY,
  wrong integer NOT NULL,
  waits_until bigint NOT NULL,
  proven integer NOT NULL,
  forget_at bigint NOT NULL
);
CREATE INDEX sign_in_tries_by_end ON sign_in_tries (forget_at);

CREATE TABLE installation (
  place integer PRIMARY KEY,
  id text NOT NULL,
  change_number bigint NOT NULL,
  master_key_id text,
  moved_to text,
  created_at bigint NOT NULL
);

CREATE TABLE schema_step_notes (
  name text PRIMARY KEY,
  needs text
);

CREATE TABLE upkeep (
  name text PRIMARY KEY,
  done_at bigint NOT NULL
);

CREATE TABLE refused_hours (
  account_id text NOT NULL,
  starts_at bigint NOT NULL,
  gate_id text NOT NULL,
  key_id text NOT NULL,
  status integer NOT NULL,
  error_kind text NOT NULL,
  calls bigint NOT NULL,
  CONSTRAINT refused_hours_primary_key
    PRIMARY KEY (account_id, starts_at, gate_id, key_id, status, error_kind)
) WITHOUT ROWID;

CREATE TABLE tags (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  created_at bigint NOT NULL
);
CREATE UNIQUE INDEX tags_by_account_and_name ON tags (account_id, name);
`

/** Postgres only: how nodes follow each other's changes (docs/decisions/0019). */
const CHANGE_FEED_TABLES = `
CREATE TABLE change_counter (
  id integer PRIMARY KEY,
  value bigint NOT NULL
);
INSERT INTO change_counter (id, value) VALUES (1, 0);

CREATE TABLE changes (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  account_id text NOT NULL,
  resource_type text NOT NULL,
  resource_id text NOT NULL,
  operation text NOT NULL
);

CREATE TABLE nodes (
  id text PRIMARY KEY,
  incarnation text NOT NULL,
  host text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  last_seen bigint NOT NULL,
  applied_seq bigint NOT NULL,
  lease_until bigint NOT NULL,
  grace_until bigint NOT NULL,
  needs_redis integer NOT NULL,
  settings text
);
`

/**
 * SQLite stores tables that are read by key range in the order of their key
 * (https://sqlite.org/withoutrowid.html). Postgres sorts text by bytes, as SQLite does, so pages
 * and indexes do not depend on the locale.
 */
export function baselineTables(kind: 'sqlite' | 'postgres'): readonly string[] {
  const text = kind === 'sqlite' ? TABLES : toPostgres(TABLES + CHANGE_FEED_TABLES)
  return text.split(';').filter((statement) => statement.trim() !== '')
}

function toPostgres(text: string): string {
  return text.replaceAll(' WITHOUT ROWID', '').replaceAll(/ text\b/g, ' text COLLATE "C"')
}
