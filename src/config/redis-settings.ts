import { Secret } from '../core/secret.ts'
import { readGiven, readSetting } from './read-setting.ts'
import type { OutageChoice } from './setting-table/store.ts'
import { type Environment, SettingsError } from './setting-type.ts'

interface RedisNode {
  readonly host: string
  readonly port: number
}

export interface RedisSettings {
  readonly topology: 'single' | 'sentinel' | 'cluster'
  readonly nodes: readonly RedisNode[]
  readonly masterName: string | undefined
  readonly username: string | undefined
  readonly password: Secret | undefined
  readonly database: number
  readonly hasTls: boolean
  /** Prefix of every key, so that several gateways can share one Redis. */
  readonly prefix: string
  readonly timeoutMs: number
  readonly outage: OutagePolicy
}

interface OutagePolicy {
  readonly choice: OutageChoice
  readonly graceMs: number
}

const SENTINEL_PORT = 26_379
const SERVER_PORT = 6_379

export function readRedisSettings(environment: Environment): RedisSettings | undefined {
  const url = readGiven(environment, 'REDIS_URL')
  if (url === undefined) return undefined
  return {
    ...parseRedisUrl(url.reveal()),
    prefix: readSetting(environment, 'GATEHOUSE_REDIS_PREFIX'),
    timeoutMs: readSetting(environment, 'GATEHOUSE_REDIS_TIMEOUT_MS'),
    outage: {
      choice: readSetting(environment, 'GATEHOUSE_LIMITS_OUTAGE'),
      graceMs: readGiven(environment, 'GATEHOUSE_LIMITS_GRACE_MS') ?? Number.POSITIVE_INFINITY,
    },
  }
}

const FORM =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>[^@/]*)@)?(?<nodes>[^@/?#]+)(?:\/(?<path>[^?#]*))?$/

type RedisUrl = Omit<RedisSettings, 'prefix' | 'timeoutMs' | 'outage'>

/**
 * The forms of IANA's `redis` scheme, extended to several hosts in the way that clients agree on.
 */
function parseRedisUrl(url: string): RedisUrl {
  const parts = FORM.exec(url)?.groups
  if (parts === undefined) throw wrongUrl('begin with redis:// or rediss:// and name a host')
  const listed = (parts.nodes ?? '').split(',')
  const topology =
    parts.kind === 'sentinel' ? 'sentinel' : isCluster(parts.kind, listed) ? 'cluster' : 'single'
  const nodes = listed.map((text) =>
    parseNode(text, topology === 'sentinel' ? SENTINEL_PORT : SERVER_PORT),
  )
  const path = (parts.path ?? '').split('/').filter((part) => part !== '')
  const masterName = topology === 'sentinel' ? path.shift() : undefined
  if (topology === 'sentinel' && masterName === undefined)
    throw wrongUrl('name the master of the sentinels: redis+sentinel://host:26379/mymaster')
  const database = path.shift() ?? '0'
  if (!/^\d{1,4}$/.test(database) || path.length > 0) throw wrongUrl('end with a database number')
  if (topology === 'cluster' && database !== '0')
    throw wrongUrl('name no database: a cluster has only 0')
  const [username, password] = parseLogin(parts.login ?? '')
  return {
    topology,
    nodes,
    masterName,
    username,
    password,
    database: Number(database),
    hasTls: parts.tls === 's',
  }
}

function isCluster(kind: string | undefined, listed: readonly string[]): boolean {
  return kind === 'cluster' || listed.length > 1
}

function parseNode(text: string, defaultPort: number): RedisNode {
  const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text.trim())
  const host = parts?.[1] ?? parts?.[2]
  const port = Number(parts?.[3] ?? defaultPort)
  if (host === undefined || port < 1 || port > 65_535)
    throw wrongUrl('name each server as host or host:port, separated by commas')
  return { host, port }
}

function parseLogin(login: string): [username: string | undefined, password: Secret | undefined] {
  if (login === '') return [undefined, undefined]
  const colon = login.indexOf(':')
  try {
    const username = decodeURIComponent(colon === -1 ? login : login.slice(0, colon))
    const password = colon === -1 ? undefined : decodeURIComponent(login.slice(colon + 1))
    return [username || undefined, password === undefined ? undefined : new Secret(password)]
  } catch {
    throw wrongUrl('have a percent-encoded user and password')
  }
}

function wrongUrl(should: string): SettingsError {
  return new SettingsError(`REDIS_URL must ${should}.`)
}
