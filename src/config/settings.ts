/** Settings from the environment, read once and checked with a message that names the variable. Holds no defaults of stages. */
import { resolve } from 'node:path'
import {
  type AccountCaps,
  CAP_VARIABLES,
  type CappedThing,
  DEFAULT_ACCOUNT_CAPS,
} from '../core/account-caps.ts'
import { isNewKey } from '../core/api-key.ts'
import type { PlansSection } from '../core/plan.ts'
import type { RedisSettings } from '../core/redis-settings.ts'
import { Secret } from '../core/secret.ts'
import type { TelemetrySettings } from '../core/telemetry-settings.ts'
import { catalog } from '../providers/catalog.ts'
import type { Provider } from '../providers/define.ts'
import { countCores } from './count-cores.ts'
import { type DatabaseSettings, readDatabaseSettings } from './database-settings.ts'
import { type Environment, SettingsError } from './environment.ts'
import { type MasterKeyVariables, readMasterKeyVariables } from './master-key-variables.ts'
import { NODE_VARIABLES, type NodeSettings, readNodeSettings } from './node-settings.ts'
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts'
import { REDIS_VARIABLES, readRedisSettings } from './redis-settings.ts'
import { readTelemetrySettings, TELEMETRY_VARIABLES } from './telemetry-settings.ts'
import { readUserSettings, type UserSettings } from './user-settings.ts'

const WORKERS = { min: 1, max: 1_024 }

export interface Settings extends ProviderSettings {
  readonly host: string
  readonly port: number
  /** A worker has one of its own, inside of `homeFolder`. */
  readonly dataFolder: string
  /** What `GATEHOUSE_DATA_DIR` names: the configuration file and the master key's are there. */
  readonly homeFolder: string
  /** How many processes serve. */
  readonly workers: number
  /** Undefined: the store is a file of the data folder. */
  readonly database: DatabaseSettings | undefined
  /** Undefined: this node shares nothing with others. */
  readonly redis: RedisSettings | undefined
  /** Of several on one Postgres. */
  readonly nodes: NodeSettings
  readonly bootstrapKey: Secret | undefined
  readonly masterKeys: MasterKeyVariables
  readonly logLevel: string
  /** Undefined, as the one below: what the plan says. */
  readonly requestsPerMinute: number | undefined
  readonly concurrentCalls: number | undefined
  /** Of one account. */
  readonly accountCaps: AccountCaps
  /** Each node takes so much of one account, and of one address where nobody is known. */
  readonly controlPlane: {
    readonly accountRequestsPerMinute: number
    readonly addressRequestsPerMinute: number
  }
  readonly maxBodyBytes: number
  /** Of all requests together. */
  readonly maxHeldBodyBytes: number
  readonly bodyTimeoutMs: number
  /** Of a connection between two requests, and of one with a body that nobody reads. */
  readonly idleConnectionMs: number
  /** Open at once; undefined: as many as it likes. */
  readonly requestsPerAddress: number | undefined
  readonly keepAliveMs: number
  /** Silence before a stream's first event after which its answer begins; 0: never. */
  readonly commitAfterMs: number
  /** For an owned model to answer when it is asked whether it does: it may have to be loaded first. */
  readonly probeTimeoutMs: number
  /** Connections to upstreams that no call uses: how long each is kept, and how many of one upstream. */
  readonly connections: { readonly idleMs: number; readonly maxIdle: number }
  /** `HTTPS_PROXY` and its like, by their names as they are set. */
  readonly proxyVariables: Readonly<Record<string, string>>
  /** The longest that a call goes on after its key was deleted or has expired. */
  readonly revokedCallsMs: number
  /** Between the signal to end and the end of accepting connections: for balancers to notice. */
  readonly drainDelayMs: number
  readonly shutdownTimeoutMs: number
  readonly ledgerFailure: 'closed' | 'open'
  /** Pause between two shipments of the journal into the store. */
  readonly shipIntervalMs: number
  /** How long single calls are kept; what they add up to stays. */
  readonly retentionDays: number
  readonly auditRetentionDays: number
  readonly timeouts: {
    readonly connectMs: number
    readonly firstByteMs: number
    readonly idleMs: number
    readonly totalMs: number
  }
  /** Beside those that each dialect lets pass. */
  readonly forwardedHeaders: {
    readonly request: readonly string[]
    readonly answer: readonly string[]
  }
  readonly users: UserSettings
  readonly telemetry: TelemetrySettings
  /** The catalog, and the operator's own. */
  readonly providers: readonly Provider[]
  /** The configuration file's; undefined: those that are built in. */
  readonly plans: PlansSection | undefined
  /** Hosts inside the network that owned models and webhooks may be at, as the operator wrote them. */
  readonly trustedHosts: readonly string[]
  /** Variables that look like ours and are none: most likely misspelt. */
  readonly unknownVariables: readonly string[]
}

/** Every variable but the providers', for `--help`, the documentation and the search for misspelt ones. */
export const VARIABLES = {
  GATEHOUSE_HOST: 'address to listen on (127.0.0.1)',
  GATEHOUSE_PORT: 'port to listen on; 0 takes any free one (4000)',
  GATEHOUSE_DATA_DIR: 'folder for the database and the journal (./data)',
  GATEHOUSE_WORKERS: 'processes that serve; auto: one for each core (1)',
  DATABASE_URL:
    'Postgres database instead of the file in the data folder: postgres://user:password@host:5432/database?sslmode=verify-full',
  GATEHOUSE_DATABASE_POOL_SIZE: 'connections to Postgres (10)',
  GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS:
    'time for a connection to Postgres to be made or to become free (5000)',
  GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS: 'time for one statement of Postgres (30000)',
  GATEHOUSE_CONFIG: 'configuration file (gatehouse.yaml in the data folder, when it is there)',
  GATEHOUSE_BOOTSTRAP_KEY: 'a key `sk-svc-…` to accept as the first one',
  GATEHOUSE_MASTER_KEY:
    'encrypts stored credentials, signs sessions: 32 bytes, as hex or base64 (made in the data folder: master.key)',
  GATEHOUSE_MASTER_KEY_PREVIOUS: 'older master keys, separated by commas, that only still decrypt',
  GATEHOUSE_LOG_LEVEL: 'trace, debug, info, warn, error or silent (info)',
  GATEHOUSE_REQUESTS_PER_MINUTE: 'calls that one key may make a minute, whatever its plan says',
  GATEHOUSE_CONCURRENT_CALLS: 'calls that one key may have open at once, whatever its plan says',
  GATEHOUSE_MAX_GATES: 'gates that one account may have (2000)',
  GATEHOUSE_MAX_KEYS: 'API keys that one account may have (5000)',
  GATEHOUSE_MAX_INVITATIONS: 'open invitations that one account may have (500)',
  GATEHOUSE_MAX_OWNED_MODELS: 'owned models that one account may have (500)',
  GATEHOUSE_MAX_MEMBERS: 'members that one account may have (1000)',
  GATEHOUSE_MAX_BUDGETS: 'budgets that one account may have (500)',
  GATEHOUSE_MAX_WEBHOOKS: 'webhooks that one account may have (20)',
  GATEHOUSE_CONTROL_REQUESTS_PER_MINUTE:
    'control-plane requests that a node takes a minute of one account, of its keys and of its users each (6000)',
  GATEHOUSE_ANONYMOUS_REQUESTS_PER_MINUTE:
    'the same of one address without a valid key or session (1200)',
  GATEHOUSE_MAX_BODY_BYTES: 'largest request body (67108864)',
  GATEHOUSE_MAX_HELD_BODY_BYTES:
    'bytes of request bodies that the process holds at once, of all callers; beyond it 503 (536870912)',
  GATEHOUSE_BODY_TIMEOUT_MS: 'time for a request body to arrive (60000)',
  GATEHOUSE_IDLE_CONNECTION_MS:
    'how long a connection of a client is kept between two requests (75000)',
  GATEHOUSE_REQUESTS_PER_ADDRESS:
    'requests that one client address may have open at once; beyond it 429 (no limit)',
  GATEHOUSE_CONNECT_TIMEOUT_MS: 'time for an upstream to accept a connection (5000)',
  GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: 'time for an upstream to begin its answer (600000)',
  GATEHOUSE_IDLE_TIMEOUT_MS: 'longest silence inside an answer (300000)',
  GATEHOUSE_TOTAL_TIMEOUT_MS: 'longest time for a whole call (3600000)',
  GATEHOUSE_REVOKED_CALLS_MS:
    'the longest that a running call goes on after its key was deleted or has expired (2000)',
  GATEHOUSE_PROBE_TIMEOUT_MS:
    'time for an owned model to answer when it is registered or checked; it may have to be loaded (60000)',
  GATEHOUSE_KEEP_ALIVE_MS: 'silence in a stream after which a comment is sent (15000)',
  GATEHOUSE_COMMIT_AFTER_MS:
    'silence before the first event of a stream after which its answer begins, with 200 and comments; 0: never (15000)',
  GATEHOUSE_UPSTREAM_IDLE_MS: 'how long a connection to an upstream is kept without a call (30000)',
  GATEHOUSE_UPSTREAM_MAX_IDLE: 'how many of them are kept for one upstream (2048)',
  GATEHOUSE_DRAIN_DELAY_MS:
    'time after SIGTERM in which /readyz is 503 and calls are still taken, for balancers to notice (0)',
  GATEHOUSE_SHUTDOWN_TIMEOUT_MS: 'time that open calls get to finish at SIGTERM (30000)',
  GATEHOUSE_LEDGER_FAILURE:
    'closed: refuse calls while usage cannot be written down; open: serve them (closed)',
  GATEHOUSE_SHIP_INTERVAL_MS:
    'pause between two times that ended calls go from the journal into the store (1000)',
  GATEHOUSE_AUDIT_RETENTION_DAYS: 'days that the audit log is kept (365)',
  GATEHOUSE_TRUSTED_HOSTS:
    'hosts inside the network that owned models and webhooks may be at: host[:port], *.suffix, address or range, separated by commas',
  GATEHOUSE_FORWARD_REQUEST_HEADERS:
    'headers of callers that reach upstreams beside those of each dialect, separated by commas; one may end in *',
  GATEHOUSE_FORWARD_ANSWER_HEADERS: 'the same of upstreams that reach callers',
  GATEHOUSE_PUBLIC_URL:
    'address at which browsers reach the gateway, such as https://gatehouse.example',
  GATEHOUSE_SIGN_UP: 'who may make a user: invitation, open or closed (invitation)',
  GATEHOUSE_CLIENT_ADDRESS_HEADER:
    'header in which your proxy puts the address of the client, such as x-forwarded-for',
  GATEHOUSE_OIDC_ISSUER: 'address of an OpenID Connect provider to sign in with',
  GATEHOUSE_OIDC_CLIENT_ID: 'as what the gateway is known there',
  GATEHOUSE_OIDC_CLIENT_SECRET: 'and its secret there',
  GATEHOUSE_RETENTION_DAYS: 'days that single calls are kept in the log; their sums stay (30)',
  ...REDIS_VARIABLES,
  ...NODE_VARIABLES,
  ...TELEMETRY_VARIABLES,
  GATEHOUSE_URL: 'for the command line: the gateway to talk to',
  GATEHOUSE_API_KEY: 'for the command line: the key to talk with',
} as const

type Variable = keyof typeof VARIABLES

/** What the configuration file has a say in. */
export interface Configured {
  /** All that there are. */
  readonly providers: readonly Provider[]
  readonly plans: PlansSection | undefined
  readonly logLevel: string | undefined
}

const WITHOUT_FILE: Configured = { providers: catalog, plans: undefined, logLevel: undefined }

/** @throws SettingsError naming the variable that is wrong */
export function readSettings(environment: Environment, configured = WITHOUT_FILE): Settings {
  const { providers, plans, logLevel } = configured
  const integer = (name: Variable, fallback: number, range: { min: number; max: number }) =>
    readInteger(environment, name, fallback, range)
  const text = (name: Variable, fallback: string) => environment[name] || fallback
  const positive = { min: 1, max: Number.MAX_SAFE_INTEGER }
  const milliseconds = { min: 1, max: 86_400_000 }
  return {
    host: text('GATEHOUSE_HOST', '127.0.0.1'),
    port: integer('GATEHOUSE_PORT', 4000, { min: 0, max: 65_535 }),
    dataFolder: readDataFolder(environment),
    homeFolder: readDataFolder(environment),
    workers:
      environment.GATEHOUSE_WORKERS === 'auto'
        ? countCores()
        : integer('GATEHOUSE_WORKERS', 1, WORKERS),
    database: readDatabaseSettings(environment, {
      poolSize: integer('GATEHOUSE_DATABASE_POOL_SIZE', 10, { min: 2, max: 1_000 }),
      connectTimeoutMs: integer('GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS', 5_000, milliseconds),
      statementTimeoutMs: integer('GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS', 30_000, milliseconds),
    }),
    redis: readRedisSettings(environment),
    nodes: readNodeSettings(environment, Boolean(environment.REDIS_URL)),
    bootstrapKey: readBootstrapKey(environment),
    masterKeys: readMasterKeyVariables(environment),
    logLevel: environment.GATEHOUSE_LOG_LEVEL
      ? readChoice(environment, 'GATEHOUSE_LOG_LEVEL', LOG_LEVELS)
      : (logLevel ?? LOG_LEVELS[0]),
    requestsPerMinute: readInteger(
      environment,
      'GATEHOUSE_REQUESTS_PER_MINUTE',
      undefined,
      positive,
    ),
    concurrentCalls: readInteger(environment, 'GATEHOUSE_CONCURRENT_CALLS', undefined, positive),
    accountCaps: readCaps(integer),
    controlPlane: {
      accountRequestsPerMinute: integer('GATEHOUSE_CONTROL_REQUESTS_PER_MINUTE', 6_000, positive),
      addressRequestsPerMinute: integer('GATEHOUSE_ANONYMOUS_REQUESTS_PER_MINUTE', 1_200, positive),
    },
    maxBodyBytes: integer('GATEHOUSE_MAX_BODY_BYTES', 64 * 1024 * 1024, positive),
    maxHeldBodyBytes: integer('GATEHOUSE_MAX_HELD_BODY_BYTES', 512 * 1024 * 1024, positive),
    bodyTimeoutMs: integer('GATEHOUSE_BODY_TIMEOUT_MS', 60_000, milliseconds),
    // The runtime keeps seconds, and few of them.
    idleConnectionMs: integer('GATEHOUSE_IDLE_CONNECTION_MS', 75_000, { min: 1_000, max: 240_000 }),
    requestsPerAddress: readInteger(
      environment,
      'GATEHOUSE_REQUESTS_PER_ADDRESS',
      undefined,
      positive,
    ),
    revokedCallsMs: integer('GATEHOUSE_REVOKED_CALLS_MS', 2_000, milliseconds),
    probeTimeoutMs: integer('GATEHOUSE_PROBE_TIMEOUT_MS', 60_000, { min: 1_000, max: 600_000 }),
    keepAliveMs: integer('GATEHOUSE_KEEP_ALIVE_MS', 15_000, milliseconds),
    commitAfterMs: integer('GATEHOUSE_COMMIT_AFTER_MS', 15_000, { ...milliseconds, min: 0 }),
    connections: {
      idleMs: integer('GATEHOUSE_UPSTREAM_IDLE_MS', 30_000, milliseconds),
      maxIdle: integer('GATEHOUSE_UPSTREAM_MAX_IDLE', 2_048, { min: 0, max: 65_535 }),
    },
    proxyVariables: pickProxyVariables(environment),
    drainDelayMs: integer('GATEHOUSE_DRAIN_DELAY_MS', 0, { min: 0, max: 3_600_000 }),
    shutdownTimeoutMs: integer('GATEHOUSE_SHUTDOWN_TIMEOUT_MS', 30_000, milliseconds),
    ledgerFailure: readChoice(environment, 'GATEHOUSE_LEDGER_FAILURE', ['closed', 'open'] as const),
    shipIntervalMs: integer('GATEHOUSE_SHIP_INTERVAL_MS', 1_000, { min: 10, max: 60_000 }),
    retentionDays: integer('GATEHOUSE_RETENTION_DAYS', 30, { min: 1, max: 36_500 }),
    auditRetentionDays: integer('GATEHOUSE_AUDIT_RETENTION_DAYS', 365, { min: 1, max: 36_500 }),
    timeouts: {
      connectMs: integer('GATEHOUSE_CONNECT_TIMEOUT_MS', 5_000, milliseconds),
      firstByteMs: integer('GATEHOUSE_FIRST_BYTE_TIMEOUT_MS', 600_000, milliseconds),
      idleMs: integer('GATEHOUSE_IDLE_TIMEOUT_MS', 300_000, milliseconds),
      totalMs: integer('GATEHOUSE_TOTAL_TIMEOUT_MS', 3_600_000, milliseconds),
    },
    forwardedHeaders: {
      request: readHeaderNames(environment, 'GATEHOUSE_FORWARD_REQUEST_HEADERS'),
      answer: readHeaderNames(environment, 'GATEHOUSE_FORWARD_ANSWER_HEADERS'),
    },
    users: readUserSettings(environment),
    trustedHosts: text('GATEHOUSE_TRUSTED_HOSTS', '')
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
    telemetry: readTelemetrySettings(environment),
    providers,
    plans,
    ...readProviderSettings(environment, providers),
    unknownVariables: Object.keys(environment).filter(
      (name) => name.startsWith('GATEHOUSE_') && !Object.hasOwn(VARIABLES, name),
    ),
  }
}

/** At least one of each: the first key and the owner are things like all others. */
function readCaps(
  integer: (name: Variable, fallback: number, range: { min: number; max: number }) => number,
): AccountCaps {
  const range = { min: 1, max: 1_000_000 }
  const cap = (thing: CappedThing) =>
    integer(CAP_VARIABLES[thing], DEFAULT_ACCOUNT_CAPS[thing], range)
  return {
    gates: cap('gates'),
    keys: cap('keys'),
    invitations: cap('invitations'),
    ownedModels: cap('ownedModels'),
    members: cap('members'),
    budgets: cap('budgets'),
    webhooks: cap('webhooks'),
  }
}

/** Absolute. */
export function readDataFolder(environment: Environment): string {
  return resolve(environment.GATEHOUSE_DATA_DIR || 'data')
}

/** The first is the default. */
const LOG_LEVELS = ['info', 'trace', 'debug', 'warn', 'error', 'silent'] as const

function readInteger<Fallback>(
  environment: Environment,
  name: Variable,
  fallback: Fallback,
  range: { readonly min: number; readonly max: number },
): number | Fallback {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < range.min || value > range.max) {
    throw new SettingsError(
      `${name} must be a whole number from ${range.min} to ${range.max}, but is '${text}'.`,
    )
  }
  return value
}

function readChoice<T extends string>(
  environment: Environment,
  name: Variable,
  choices: readonly [T, ...T[]],
): T {
  const text = environment[name]
  if (text === undefined || text === '') return choices[0]
  const choice = choices.find((candidate) => candidate === text)
  if (choice === undefined)
    throw new SettingsError(`${name} must be one of ${choices.join(', ')}, but is '${text}'.`)
  return choice
}

/** A list of everything would be none. */
function readHeaderNames(environment: Environment, name: Variable): readonly string[] {
  const names = (environment[name] ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '')
  const wrong = names.find((each) => !/^[a-z0-9_-]{2,64}\*?$/.test(each))
  if (wrong !== undefined)
    throw new SettingsError(
      `${name} must be names of headers, separated by commas, but holds '${wrong}'.`,
    )
  return names
}

function readBootstrapKey(environment: Environment): Secret | undefined {
  const key = environment.GATEHOUSE_BOOTSTRAP_KEY
  if (key === undefined || key === '') return undefined
  // The value is not repeated: it is a key, if a malformed one.
  if (!isNewKey(key)) {
    throw new SettingsError(
      'GATEHOUSE_BOOTSTRAP_KEY must be `sk-svc-` followed by 64 hexadecimal characters.',
    )
  }
  return new Secret(key)
}

/** Proxies have the names that other programs know (curl's), in either case. */
function pickProxyVariables(environment: Environment): Readonly<Record<string, string>> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
    name,
    name.toLowerCase(),
  ])
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
