/**
 * Settings from the environment, read once: what the server gets of them, by subject. Holds no
 * defaults.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
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
  /** A worker has one of its own, inside of `homeFolder`. */
  readonly dataFolder: string
  /** Named by `GATEHOUSE_DATA_DIR`: the configuration file and the master key's are there. */
  readonly homeFolder: string
  /** How many processes serve. */
  readonly workers: number
  /** Undefined: the store is a file of the data folder. */
  readonly database: DatabaseSettings | undefined
  /** Undefined: this node shares nothing with others. */
  readonly redis: RedisSettings | undefined
  /** Undefined: there is none. */
  readonly configurationFile: ConfigurationFile | undefined
  /** Of several on one Postgres. */
  readonly nodes: NodeSettings
  /** The values that all nodes on one Postgres have to share. */
  readonly shared: SharedSettings
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
  /** The owner of the account that every gateway begins with. */
  readonly defaultAccount: 'operator' | 'tenant'
  /** Open at once; undefined: as many as it likes. */
  readonly requestsPerAddress: number | undefined
  readonly keepAliveMs: number
  /** Silence before a stream's first event after which its answer begins; 0: never. */
  readonly commitAfterMs: number
  /**
   * For an owned model to answer when it is asked whether it does: it may have to be loaded first.
   */
  readonly probeTimeoutMs: number
  /**
   * Connections to upstreams that no call uses: how long each is kept, and how many of one
   * upstream.
   */
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
  /** How long usage by the hour is kept; usage by the day is kept for ever. */
  readonly hourlyDays: number
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
  /**
   * Hosts inside the network that owned models and webhooks may be at, as the operator wrote them.
   */
  readonly trustedHosts: readonly string[]
  /** Variables that look like ours and are none: most likely misspelt. */
  readonly unknownVariables: readonly string[]
}

/** The parts that the configuration file has a say in. */
export interface Configured {
  /** All that there are. */
  readonly providers: readonly Provider[]
  readonly plans: PlansSection | undefined
  readonly logLevel: string | undefined
  readonly file: ConfigurationFile | undefined
}

const WITHOUT_FILE: Configured = {
  providers: catalog,
  plans: undefined,
  logLevel: undefined,
  file: undefined,
}

/** @throws SettingsError naming the variable that is wrong */
export function readSettings(environment: Environment, configured = WITHOUT_FILE): Settings {
  const { providers, plans, logLevel } = configured
  const read = <Name extends DefaultedName>(name: Name) => readSetting(environment, name)
  const workers = read('GATEHOUSE_WORKERS')
  return {
    // In brackets, as in addresses, it would be listened on, and be written in two pairs of them.
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
    hourlyDays: readHourlyDays(environment),
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
    ...readProviderSettings(environment, providers),
    unknownVariables: unknownVariables(environment),
  }
}

/** At least as long as calls are kept: a budget's first hour is counted from its calls. */
function readHourlyDays(environment: Environment): number {
  return Math.max(
    readSetting(environment, 'GATEHOUSE_HOURLY_DAYS'),
    readSetting(environment, 'GATEHOUSE_RETENTION_DAYS'),
  )
}

/** Absolute. */
export function readDataFolder(environment: Environment): string {
  return resolve(readSetting(environment, 'GATEHOUSE_DATA_DIR'))
}

function readHeaderNames(
  environment: Environment,
  name: 'GATEHOUSE_FORWARD_REQUEST_HEADERS' | 'GATEHOUSE_FORWARD_ANSWER_HEADERS',
): readonly string[] {
  return (readGiven(environment, name) ?? []).map((each) => each.toLowerCase())
}

/** In either case, as other programs take them. */
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

/** @throws SettingsError naming the variable that is wrong */
function readNodeSettings(environment: Environment): NodeSettings {
  const choice = readSetting(environment, 'GATEHOUSE_STORE_OUTAGE')
  const graceMs = readSetting(environment, 'GATEHOUSE_STORE_GRACE_MS')
  return {
    leaseMs: readSetting(environment, 'GATEHOUSE_LEASE_MS'),
    storeOutage: { choice, graceMs: choice === 'closed' ? 0 : graceMs },
  }
}

/**
 * The cores that this process may use, at least 1. A container's share of processor time counts,
 * rounded up, where it is less than the machine has.
 */
function countCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(coresOfQuota(readQuota()))))
}

/**
 * @param text of cgroup v2's `cpu.max`: microseconds of processor time in a period, or `max`, and
 * the period
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
    // Another system, or the group of all processes, which has none.
    return 'max'
  }
}
