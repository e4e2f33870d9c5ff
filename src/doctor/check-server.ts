/**
 * Checks a server from outside: whether it answers, is the intended server, is ready and accepts
 * the key, and what its metrics say of upstream connections and file descriptors.
 */
import { TOLERATED_SKEW_MS } from '../core/clock.ts'
import type { Finding } from '../core/finding.ts'
import {
  describeUnusableKey,
  GATEWAY_ADDRESS_FORM,
  parseGatewayAddress,
  readAtMost,
} from '../core/http.ts'
import type { Secret } from '../core/secret.ts'
import { checkUnpricedBudgets, type ExaminedGate } from './check-accounts.ts'
import { checkConfiguration } from './check-configuration.ts'
import { codeOf, findingsOf } from './finding.ts'

const { fail, ok, warn } = findingsOf('server')
const ofClock = findingsOf('clock')
const ofJournal = findingsOf('journal')
const ofKey = findingsOf('key')
const WITHIN_MS = 5_000
const LARGE_BACKLOG_BYTES = 64 * 1024 * 1024
const MOST_PAGES = 100

type Json = Readonly<Record<string, unknown>>

interface ServerAddress {
  readonly url: string
  /** Undefined when no key was given, so that checks with a key are skipped. */
  readonly apiKey: string | undefined
  readonly metricsToken?: Secret | undefined
  readonly version: string
}

export interface ExaminedServer {
  readonly findings: readonly Finding[]
  readonly gates?: readonly ExaminedGate[]
  readonly configured?: ReadonlyMap<string, boolean>
  readonly withoutAddress?: ReadonlySet<string>
  readonly ownKeys?: ReadonlySet<string>
}

export async function checkServer(address: ServerAddress): Promise<ExaminedServer> {
  const gateway = parseGatewayAddress(address.url)
  if (gateway === undefined)
    return only(
      fail(
        `GATEHOUSE_URL is not ${GATEWAY_ADDRESS_FORM}`,
        'Set it to one such as http://127.0.0.1:4000',
      ),
    )
  const { url, base } = gateway
  const health = await ask(`${base}/healthz`)
  if (health instanceof Error) return only(explainSilence(base, codeOf(health)))
  const { version } = health.body ?? {}
  if (health.status !== 200 || typeof version !== 'string')
    return only(
      fail(
        `${base} answers ${health.status}, but not as a gateway does`,
        'Set GATEHOUSE_URL to the address of the gateway itself; redirects are not followed',
      ),
    )
  const readiness = await ask(`${base}/readyz`)
  const findings: Finding[] = [
    ok(`${base} answers, version ${version}`),
    ...checkTransport(url),
    ...checkVersion(version, address.version),
    ...checkClock(await readClock(base)),
    checkReadiness(readiness),
    ...checkConfiguration(checksOf(readiness)),
    ...(await checkConnections(base, address.metricsToken)),
  ]
  const { apiKey } = address
  if (apiKey === undefined || apiKey === '') {
    const message = 'GATEHOUSE_API_KEY is not set, so no key and no gate of the server was tried'
    findings.push(ofKey.warn(message, 'Set it to one of its keys'))
    return { findings }
  }
  const objection = describeUnusableKey(apiKey)
  if (objection !== undefined) {
    findings.push(ofKey.fail(`GATEHOUSE_API_KEY ${objection}`, 'Set it to the key alone'))
    return { findings }
  }
  return await readAccount(base, apiKey, findings)
}

async function readAccount(
  base: string,
  apiKey: string,
  findings: Finding[],
): Promise<ExaminedServer> {
  const gates = await listAll(`${base}/v1/gates`, apiKey)
  if (typeof gates === 'number') {
    findings.push(
      gates === 401
        ? ofKey.fail(
            'the server does not know the key in GATEHOUSE_API_KEY',
            'Create another in its dashboard, under API keys',
          )
        : fail(
            `the server could not list its gates (${gates || 'no answer'})`,
            "See the server's log",
          ),
    )
    return { findings }
  }
  findings.push(ofKey.ok('GATEHOUSE_API_KEY is accepted'))
  const providers = await listAll(`${base}/v1/providers`, apiKey)
  const keys = await listAll(`${base}/v1/provider-keys`, apiKey)
  const budgets = await listAll(`${base}/v1/budgets`, apiKey)
  if (typeof budgets !== 'number')
    findings.push(
      ...checkUnpricedBudgets(
        budgets.map(({ id, name, limitUsd, unpriced }) => ({
          id: String(id),
          name: String(name),
          isInMoney: typeof limitUsd === 'number',
          unpriced: String(unpriced),
        })),
      ),
    )
  if (typeof providers === 'number') return { findings }
  const ownKeys = typeof keys === 'number' ? [] : keys.filter(({ active }) => active === true)
  return {
    findings,
    gates: gates.map(({ id, targets }) => ({
      accountId: ACCOUNT,
      id: String(id),
      targets: (targets as Json[]).map(({ model }) => String(model)),
    })),
    configured: new Map(providers.map(({ id, configured }) => [String(id), configured === true])),
    withoutAddress: new Set(
      providers.filter(({ hasAddress }) => hasAddress === false).map(({ id }) => String(id)),
    ),
    ownKeys: new Set(ownKeys.map(({ provider }) => `${ACCOUNT}/${provider}`)),
  }
}

const ACCOUNT = 'own'

/** @returns the rows, or the status of an invalid page; 0 without an answer */
async function listAll(url: string, apiKey: string): Promise<Json[] | number> {
  const rows: Json[] = []
  let cursor: unknown = null
  for (let page = 0; page < MOST_PAGES; page += 1) {
    // The list of providers has one page and accepts no query.
    const query = typeof cursor === 'string' ? `?cursor=${encodeURIComponent(cursor)}` : ''
    const answer = await ask(url + query, apiKey)
    if (answer instanceof Error) return 0
    if (answer.status !== 200 || !Array.isArray(answer.body?.data)) return answer.status
    rows.push(...(answer.body.data as Json[]))
    cursor = answer.body.nextCursor
    if (typeof cursor !== 'string') break
  }
  return rows
}

interface Answer {
  readonly status: number
  readonly body: Json | undefined
  /**
   * How far the server's clock is ahead of this clock, in milliseconds; undefined when the server
   * sent no time.
   */
  readonly skewMs: number | undefined
}

async function ask(url: string, apiKey?: string): Promise<Answer | Error> {
  try {
    const startedAt = Date.now()
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(WITHIN_MS),
      ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
    })
    const endedAt = Date.now()
    const time = timeOf(response.headers)
    const skewMs = time === undefined ? undefined : time - (startedAt + endedAt) / 2
    const body: unknown = await readAnswer(response)
      .then((text) => JSON.parse(text))
      .catch(() => undefined)
    const isObject = typeof body === 'object' && body !== null
    return { status: response.status, body: isObject ? (body as Json) : undefined, skewMs }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/**
 * A request's id begins with the time (RFC 9562, version 7); a proxy in front of the gateway may
 * replace the `date` header.
 */
function timeOf(headers: Headers): number | undefined {
  const hex = /^req_([0-9a-f]{12})7/.exec(headers.get('x-request-id') ?? '')?.[1]
  if (hex !== undefined) return Number.parseInt(hex, 16)
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

/** Reads the time of any control plane answer; a refusal costs least. */
async function readClock(base: string): Promise<number | undefined> {
  const answer = await ask(`${base}/v1/gates`)
  return answer instanceof Error ? undefined : answer.skewMs
}

function explainSilence(base: string, code: string): Finding {
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/i.test(code))
    return fail(
      `the certificate of ${base} is not trusted (${code})`,
      'Renew it, use the name that it is for, or name its authority in NODE_EXTRA_CA_CERTS',
    )
  if (code === 'TimeoutError')
    return fail(
      `${base} did not answer within 5 seconds`,
      'Check the network, the firewall and its load',
    )
  return fail(
    `no server answers at ${base} (${code})`,
    'Start the server, or set GATEHOUSE_URL to where it listens',
  )
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

function checkTransport({ protocol, hostname }: URL): Finding[] {
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return []
  const message = 'keys travel to it unencrypted'
  return [warn(message, 'Put TLS in front of it and use https')]
}

function checkVersion(theirs: string, ours: string): Finding[] {
  if (theirs === ours) return []
  const message = `this command is version ${ours}, the server ${theirs}`
  return [warn(message, "Use the command of the server's own version")]
}

function checkClock(skewMs: number | undefined): Finding[] {
  if (skewMs === undefined || Math.abs(skewMs) <= TOLERATED_SKEW_MS) return []
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const message = `its clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`
  return [ofClock.warn(message, 'Set both by NTP; signed requests and sign-in need the time')]
}

function checksOf(answer: Answer | Error): Json {
  return answer instanceof Error ? {} : Object(answer.body?.checks)
}

function checkReadiness(answer: Answer | Error): Finding {
  if (answer instanceof Error)
    return fail('it does not say whether it is ready', "See the server's log")
  const checks: Json = checksOf(answer)
  const ledger = checks.ledger as Json | undefined
  if ((checks.redis as Json | undefined)?.status === 'other')
    return fail(
      "its Redis is another installation's, and no limit is shared",
      'See REDIS_URL and GATEHOUSE_REDIS_PREFIX; should it be meant: gatehouse store ' +
        'accept, then restart it',
    )
  if (answer.status !== 200) {
    if (typeof ledger?.reason === 'string')
      return fail(
        `it is not ready: the ledger cannot be written (${ledger.reason})`,
        'See the disk and permissions of its data folder, and its log',
      )
    const usage = (checks.usage as Json | undefined)?.status
    if (usage === 'failing' || usage === 'reading')
      return fail(
        'it is not ready: what was used before ' +
          `${usage === 'failing' ? 'cannot be read' : 'is being read'}`,
        'See its log: calls with a quota or a budget need the database',
      )
    const standing = (checks.installation as Json | undefined)?.status
    if (standing === 'other' || standing === 'gone')
      return fail(
        'it is not ready: its store ' +
          `${standing === 'gone' ? 'is gone' : 'is not the one that it began with'}`,
        'See DATABASE_URL and the data folder, and its log; restart it on the right store',
      )
    return fail('it is not ready', 'See its /readyz and its log')
  }
  const setBack = (checks.installation as Json | undefined)?.setBack as Json | undefined
  if (setBack !== undefined)
    return fail(
      `its store was set back in time, from change ${setBack.fromChange} to ${setBack.toChange}`,
      'Revoke again what was revoked in between; then restart it, with gatehouse store accept',
    )
  const { backlog, dropped, unshippedBytes } = ledger ?? {}
  if (Number(dropped) > 0)
    return fail(
      `it has lost the records of ${dropped} calls since its start`,
      'See the disk of its data folder',
    )
  if (Number(backlog) > 0 || Number(unshippedBytes) > LARGE_BACKLOG_BYTES)
    return ofJournal.warn(
      `${unshippedBytes} bytes of calls wait to be moved into the database`,
      "See the server's log: the database or the disk does not take them",
    )
  return ok('it is ready')
}

function only(finding: Finding): ExaminedServer {
  return { findings: [finding] }
}

const ofConnections = findingsOf('connections')
/** Minimum sample size. */
const FEWEST_CALLS = 100

interface Counts {
  readonly opened: number
  readonly reused: number
  readonly failed: number
}

export async function checkConnections(
  base: string,
  token: Secret | undefined,
): Promise<Finding[]> {
  const text = await fetch(`${base}/metrics`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(WITHIN_MS),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token.reveal()}` } }),
  }).then(
    (response) => (response.status === 200 ? readAnswer(response) : ''),
    () => '',
  )
  return [
    ...[...readCounts(text)].map(([provider, counts]) => judge(provider, counts)),
    ...checkHandles(text),
  ]
}

/** The share of open file descriptors above which a server closes idle connections. */
const FEW_LEFT_AT = 0.8

function checkHandles(text: string): Finding[] {
  const [open] = [...text.matchAll(OPEN_HANDLES)].map(([, value]) => Number(value))
  const [most] = [...text.matchAll(MOST_HANDLES)].map(([, value]) => Number(value))
  if (open === undefined || most === undefined || open < most * FEW_LEFT_AT) return []
  const message = `${open} of its ${most} handles are open: without one it asks no upstream`
  return [ofConnections.warn(message, 'Raise its limit of open files (ulimit -n, LimitNOFILE)')]
}

const OPEN_HANDLES = /^gatehouse_handles\{state="open"\} (\d{1,15})$/gm
const MOST_HANDLES = /^gatehouse_handles\{state="most"\} (\d{1,15})$/gm

function judge(provider: string, { opened, reused, failed }: Counts): Finding {
  const made = opened + failed
  const message = `${provider}: ${opened} opened for ${opened + reused} calls, ${failed} failed`
  if (made >= 10 && failed * 2 > made)
    return ofConnections.warn(
      message,
      'See the log for why; check the network, the firewall and the proxy ' +
        'between here and there',
    )
  if (opened + reused >= FEWEST_CALLS && opened > reused)
    return ofConnections.warn(
      `${message}: most calls pay for a handshake`,
      'See whether the upstream or a proxy before it closes connections after each answer',
    )
  return ofConnections.ok(message)
}

function readCounts(text: string): ReadonlyMap<string, Counts> {
  const found = new Map<string, Counts>()
  for (const line of text.split('\n')) {
    const [, provider, event, value] = LINE.exec(line) ?? []
    if (provider === undefined || event === undefined) continue
    const counts = found.get(provider) ?? { opened: 0, reused: 0, failed: 0 }
    found.set(provider, { ...counts, [event]: Number(value) })
  }
  return found
}

const LINE =
  /^gatehouse_upstream_connections_total\{provider="([a-z0-9-]{1,64})",event="(opened|reused|failed)"\} (\d{1,15})$/

/** Maximum size of a metrics page, larger than the page of any gateway. */
const MAX_BYTES = 32 * 1024 * 1024

async function readAnswer(response: Response): Promise<string> {
  return new TextDecoder().decode(await readAtMost(response.body ?? [], MAX_BYTES))
}
