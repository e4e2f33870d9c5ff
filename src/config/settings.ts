import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type ModelOverlay, NO_OVERLAY, ReplaceableOverlay } from '../core/model-overlay.ts'
import { type AccountCaps, type PlansSection, toCaps } from '../core/plan.ts'
import type { Secret } from '../core/secret.ts'
import type { StoreOutagePolicy } from '../core/shared-stores.ts'
import { catalog } from '../providers/catalog.ts'
import type { Provider } from '../providers/define.ts'
import { type DatabaseSettings, readDatabaseSettings } from './database-settings.ts'
import { type MasterKeyVariables, readMasterKeyVariables } from './master-key-variables.ts'
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts'
import { type DefaultedName, readGiven, readSetting } from './read-setting.ts'
import { type RedisSettings, readRedisSettings } from './redis-settings.ts'
import type { ConfigurationFile } from './remembered-configuration.ts'
import { proxySettings } from './setting-table/upstreams.ts'
import { unknownVariables } from './setting-table.ts'
import type { Environment } from './setting-type.ts'
import { type SharedSettings, showSharedSettings } from './shared-settings.ts'
import { readTelemetrySettings, type TelemetrySettings } from './telemetry-settings.ts'
import { readUserSettings, type UserSettings } from './user-settings.ts'

export interface Settings extends ProviderSettings {
  readonly host: string
  readonly port: number
  /** A worker has its own folder, inside `homeFolder`. */
  readonly dataFolder: string
  /** Set by `GATEHOUSE_DATA_DIR`; contains the configuration file and the master key's file. */
  readonly homeFolder: string
  readonly workers: number
  readonly database: DatabaseSettings | undefined
  readonly redis: RedisSettings | undefined
  readonly configurationFile: ConfigurationFile | undefined
  readonly nodes: NodeSettings
  readonly shared: SharedSettings
  readonly bootstrapKey: Secret | undefined
  readonly masterKeys: MasterKeyVariables
  readonly logLevel: string
  /** Undefined uses the plan's limit, also for the members below. */
  readonly requestsPerMinute: number | undefined
  readonly concurrentCalls: number | undefined
  readonly accountCaps: AccountCaps
  /** Per node: limits for an account, and for an address of unknown callers. */
  readonly controlPlane: {
    readonly accountRequestsPerMinute: number
    readonly addressRequestsPerMinute: number
  }
  readonly maxBodyBytes: number
  readonly maxHeldBodyBytes: number
  readonly bodyTimeoutMs: number
  readonly idleConnectionMs: number
  readonly defaultAccount: 'operator' | 'tenant'
  /** Whether the operator may set prices by the API. */
  readonly hasOperatorApi: boolean
  readonly requestsPerAddress: number | undefined
  readonly keepAliveMs: number
  /** Silence before a stream's first event after which the answer begins anyway; 0 for never. */
  readonly commitAfterMs: number
  /** Time limit of an owned model's probe; the server may have to load the model first. */
  readonly probeTimeoutMs: number
  readonly connections: { readonly idleMs: number; readonly maxIdle: number }
  /** `HTTPS_PROXY` and similar, by their names as set. */
  readonly proxyVariables: Readonly<Record<string, string>>
  readonly revokedCallsMs: number
  readonly drainDelayMs: number
  readonly shutdownTimeoutMs: number
  readonly ledgerFailure: 'closed' | 'open'
  readonly shipIntervalMs: number
  /** Retention of single calls; their sums are retained. */
  readonly retentionDays: number
  /** Retention of hourly usage; daily usage is retained forever. */
  readonly hourlyDays: number
  readonly userDays: number
  readonly auditRetentionDays: number
  readonly timeouts: {
    readonly connectMs: number
    readonly firstByteMs: number
    readonly idleMs: number
    readonly totalMs: number
  }
  readonly forwardedHeaders: {
    readonly request: readonly string[]
    readonly answer: readonly string[]
  }
  readonly users: UserSettings
  readonly telemetry: TelemetrySettings
  readonly providers: readonly Provider[]
  readonly plans: PlansSection | undefined
  /** The configuration file's entries for models. */
  readonly models: ReplaceableOverlay
  /** Internal hosts that owned models and webhooks may use, as the operator wrote them. */
  readonly trustedHosts: readonly string[]
  readonly unknownVariables: readonly string[]
}

export interface Configured {
  readonly providers: readonly Provider[]
  readonly keysInFiles: ReadonlyMap<string, Secret>
  readonly plans: PlansSection | undefined
  readonly models: ModelOverlay
  readonly logLevel: string | undefined
  readonly file: ConfigurationFile | undefined
}

const WITHOUT_FILE: Configured = {
  providers: catalog,
  keysInFiles: new Map(),
  plans: undefined,
  models: NO_OVERLAY,
  logLevel: undefined,
  file: undefined,
}

export function readSettings(environment: Environment, configured = WITHOUT_FILE): Settings {
  const { providers, keysInFiles, plans, models, logLevel } = configured
  const read = <Name extends DefaultedName>(name: Name) => readSetting(environment, name)
  const workers = read('GATEHOUSE_WORKERS')
  return {
    // Without brackets: listening accepts brackets, but the printed URL would have two pairs.
    host: read('GATEHOUSE_HOST').replace(/^\[(.+)\]$/, '$1'),
    port: read('GATEHOUSE_PORT'),
    dataFolder: readDataFolder(environment),
    homeFolder: readDataFolder(environment),
    workers: workers === 'auto' ? countCores() : workers,
    configurationFile: configured.file,
    database: readDatabaseSettings(environment),
    redis: readRedisSettings(environment),
    nodes: readNodeSettings(environment),
    shared: showSharedSettings(environment, plans),
    bootstrapKey: readGiven(environment, 'GATEHOUSE_BOOTSTRAP_KEY'),
    masterKeys: readMasterKeyVariables(environment),
    logLevel:
      readGiven(environment, 'GATEHOUSE_LOG_LEVEL') ?? logLevel ?? read('GATEHOUSE_LOG_LEVEL'),
    requestsPerMinute: readGiven(environment, 'GATEHOUSE_REQUESTS_PER_MINUTE'),
    concurrentCalls: readGiven(environment, 'GATEHOUSE_CONCURRENT_CALLS'),
    accountCaps: toCaps(({ variable }) => readSetting(environment, variable)),
    controlPlane: {
      accountRequestsPerMinute: read('GATEHOUSE_CONTROL_REQUESTS_PER_MINUTE'),
      addressRequestsPerMinute: read('GATEHOUSE_ANONYMOUS_REQUESTS_PER_MINUTE'),
    },
    maxBodyBytes: read('GATEHOUSE_MAX_BODY_BYTES'),
    maxHeldBodyBytes: read('GATEHOUSE_MAX_HELD_BODY_BYTES'),
    bodyTimeoutMs: read('GATEHOUSE_BODY_TIMEOUT_MS'),
    idleConnectionMs: read('GATEHOUSE_IDLE_CONNECTION_MS'),
    requestsPerAddress: readGiven(environment, 'GATEHOUSE_REQUESTS_PER_ADDRESS'),
    defaultAccount: read('GATEHOUSE_DEFAULT_ACCOUNT'),
    hasOperatorApi: read('GATEHOUSE_OPERATOR_API') === 'on',
    revokedCallsMs: read('GATEHOUSE_REVOKED_CALLS_MS'),
    probeTimeoutMs: read('GATEHOUSE_PROBE_TIMEOUT_MS'),
    keepAliveMs: read('GATEHOUSE_KEEP_ALIVE_MS'),
    commitAfterMs: read('GATEHOUSE_COMMIT_AFTER_MS'),
    connections: {
      idleMs: read('GATEHOUSE_UPSTREAM_IDLE_MS'),
      maxIdle: read('GATEHOUSE_UPSTREAM_MAX_IDLE'),
    },
    proxyVariables: pickProxyVariables(environment),
    drainDelayMs: read('GATEHOUSE_DRAIN_DELAY_MS'),
    shutdownTimeoutMs: read('GATEHOUSE_SHUTDOWN_TIMEOUT_MS'),
    ledgerFailure: read('GATEHOUSE_LEDGER_FAILURE'),
    shipIntervalMs: read('GATEHOUSE_SHIP_INTERVAL_MS'),
    retentionDays: read('GATEHOUSE_RETENTION_DAYS'),
    hourlyDays: readAtLeastAsCalls(environment, 'GATEHOUSE_HOURLY_DAYS'),
    userDays: readAtLeastAsCalls(environment, 'GATEHOUSE_USER_DAYS'),
    auditRetentionDays: read('GATEHOUSE_AUDIT_RETENTION_DAYS'),
    timeouts: {
      connectMs: read('GATEHOUSE_CONNECT_TIMEOUT_MS'),
      firstByteMs: read('GATEHOUSE_FIRST_BYTE_TIMEOUT_MS'),
      idleMs: read('GATEHOUSE_IDLE_TIMEOUT_MS'),
      totalMs: read('GATEHOUSE_TOTAL_TIMEOUT_MS'),
    },
    forwardedHeaders: {
      request: readHeaderNames(environment, 'GATEHOUSE_FORWARD_REQUEST_HEADERS'),
      answer: readHeaderNames(environment, 'GATEHOUSE_FORWARD_ANSWER_HEADERS'),
    },
    users: readUserSettings(environment),
    trustedHosts: readGiven(environment, 'GATEHOUSE_TRUSTED_HOSTS') ?? [],
    telemetry: readTelemetrySettings(environment),
    providers,
    plans,
    models: new ReplaceableOverlay(models),
    ...readProviderSettings(environment, providers, keysInFiles),
    unknownVariables: unknownVariables(environment),
  }
}

/**
 * At least the retention of calls: a budget's first hour is counted from its calls, and corrections
 * of calls change their sums.
 */
function readAtLeastAsCalls(
  environment: Environment,
  name: 'GATEHOUSE_HOURLY_DAYS' | 'GATEHOUSE_USER_DAYS',
): number {
  return Math.max(
    readSetting(environment, name),
    readSetting(environment, 'GATEHOUSE_RETENTION_DAYS'),
  )
}

/** An absolute path. */
export function readDataFolder(environment: Environment): string {
  return resolve(readSetting(environment, 'GATEHOUSE_DATA_DIR'))
}

function readHeaderNames(
  environment: Environment,
  name: 'GATEHOUSE_FORWARD_REQUEST_HEADERS' | 'GATEHOUSE_FORWARD_ANSWER_HEADERS',
): readonly string[] {
  return (readGiven(environment, name) ?? []).map((each) => each.toLowerCase())
}

/** In upper or lower case, as other programs accept the names. */
function pickProxyVariables(environment: Environment): Readonly<Record<string, string>> {
  const names = Object.keys(proxySettings).flatMap((name) => [name, name.toLowerCase()])
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

export interface NodeSettings {
  readonly leaseMs: number
  readonly storeOutage: StoreOutagePolicy
}

function readNodeSettings(environment: Environment): NodeSettings {
  const choice = readSetting(environment, 'GATEHOUSE_STORE_OUTAGE')
  const graceMs = readSetting(environment, 'GATEHOUSE_STORE_GRACE_MS')
  return {
    leaseMs: readSetting(environment, 'GATEHOUSE_LEASE_MS'),
    storeOutage: { choice, graceMs: choice === 'closed' ? 0 : graceMs },
  }
}

function countCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(coresOfQuota(readQuota()))))
}

/**
 * @param text cgroup v2's `cpu.max`: microseconds of processor time per period (or `max`), and the
 * period
 */
export function coresOfQuota(text: string): number {
  const [quota, period] = text.trim().split(' ').map(Number)
  return quota !== undefined && period !== undefined && quota > 0 && period > 0
    ? quota / period
    : Infinity
}

function readQuota(): string {
  try {
    return readFileSync('/sys/fs/cgroup/cpu.max', 'utf8')
  } catch {
    // Systems without cgroup v2, and the root group, lack this file, so no quota applies.
    return 'max'
  }
}
