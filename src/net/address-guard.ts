/**
 * Decides where a call to a customer's address may connect: to the public internet over https, or
 * to a host that the operator trusts. The guard resolves the name itself and returns the checked
 * address, so DNS rebinding has no effect.
 */
import { type Stopwatch, systemClock } from '../core/clock.ts'
import { classifyAddress, type IpAddress, parseIpAddress } from './address-ranges.ts'
import type { TrustedHosts } from './trusted-hosts.ts'
import { UpstreamFailure } from './upstream-failure.ts'

/** The message names the fault of the address, but no IP addresses of the name. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
}

export interface Destination {
  readonly url: string
  /** The original host name; undefined when the address was an IP address. */
  readonly host: string | undefined
  /** The name that the certificate must have; undefined over http and for an IP address. */
  readonly serverName: string | undefined
  /** True when no proxy may be used, whatever the environment says. */
  readonly isDirect?: boolean
}

export type IsProxied = (url: {
  readonly protocol: string
  readonly hostname: string
  readonly port: number
}) => boolean

/** @returns all addresses of a name; rejects or returns none when the name does not exist */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

export interface AddressGuardOptions {
  readonly trustedHosts: TrustedHosts
  readonly resolve?: ResolveHost | undefined
  readonly isProxied?: IsProxied
  readonly clock?: Stopwatch
  readonly resolveTimeoutMs?: number
}

/** Checked addresses are reused for this time, in milliseconds. */
const REMEMBERED_MS = 15_000
const MAX_REMEMBERED = 1_000
const RESOLVE_TIMEOUT_MS = 3_000

export class AddressGuard {
  readonly #trustedHosts: TrustedHosts
  readonly #resolve: ResolveHost
  readonly #isProxied: IsProxied
  readonly #clock: Stopwatch
  readonly #resolveTimeoutMs: number
  /** Origin → its checked addresses, in URL form. */
  readonly #checked = new Map<
    string,
    { readonly hosts: readonly string[]; readonly untilMs: number }
  >()

  readonly #lookUps = new Map<string, Promise<readonly string[]>>()

  constructor({ trustedHosts, resolve, isProxied, clock, resolveTimeoutMs }: AddressGuardOptions) {
    this.#trustedHosts = trustedHosts
    this.#resolve = resolve ?? resolveHost
    this.#isProxied = isProxied ?? (() => false)
    this.#clock = clock ?? systemClock
    this.#resolveTimeoutMs = resolveTimeoutMs ?? RESOLVE_TIMEOUT_MS
  }

  /**
   * Checks an address before it is saved: the form, then the addresses that its name has now.
   * @returns `unresolved` when the name has no address yet, so only the form was checked
   * @throws AddressRefusedError
   */
  async check(address: string): Promise<'allowed' | 'unresolved'> {
    const url = parseAddress(address)
    this.#checkForm(url)
    try {
      await this.#addressesOf(url)
      return 'allowed'
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFailure)) throw thrown
      // A host that is allowed only by its addresses is refused while its name has no address.
      if (url.protocol === 'http:' && !this.#isNamed(url)) throw new AddressRefusedError(HTTPS_ONLY)
      return 'unresolved'
    }
  }

  /**
   * The IP addresses that a call may connect to, best first. For a trusted host behind a proxy,
   * returns the name, because often only the proxy can resolve it.
   * @throws AddressRefusedError when the address is not or no longer allowed; UpstreamFailure when
   * its name does not resolve
   */
  async resolve(address: string): Promise<readonly string[]> {
    const hosts = await this.#addressesOf(new URL(address))
    return hosts.map((host) => host.replace(/^\[|\]$/g, ''))
  }

  /**
   * Like `resolve`, for `fetch`, which takes one address.
   * @throws AddressRefusedError, UpstreamFailure
   */
  async locate(address: string): Promise<Destination> {
    const url = new URL(address)
    const [host = url.hostname] = await this.#addressesOf(url)
    const isDirect = !this.#goesByProxy(url)
    if (host === url.hostname)
      return { url: address, host: undefined, serverName: undefined, isDirect }
    return {
      url: `${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}${url.pathname}${url.search}`,
      host: url.host,
      serverName: url.protocol === 'https:' ? url.hostname : undefined,
      isDirect,
    }
  }

  /** Called when the last used address did not answer, so the next call takes another address. */
  avoid(address: string): void {
    const { origin } = new URL(address)
    const checked = this.#checked.get(origin)
    const [failed, ...others] = checked?.hosts ?? []
    if (checked === undefined || failed === undefined || others.length === 0) return
    this.#checked.set(origin, { ...checked, hosts: [...others, failed] })
  }

  async #addressesOf(url: URL): Promise<readonly string[]> {
    const checked = this.#checked.get(url.origin)
    if (checked !== undefined && checked.untilMs > this.#clock.elapsed()) return checked.hosts
    this.#checkForm(url)
    const literal = parseIpAddress(toBareHost(url))
    // The proxy may resolve only names that the operator listed.
    if (literal === undefined && this.#isNamed(url) && this.#goesByProxy(url)) return [url.hostname]
    const found = literal === undefined ? await this.#lookUp(url.hostname) : [toBareHost(url)]
    const addresses = found.map(parseIpAddress).filter((address) => address !== undefined)
    // The resolver's order is arbitrary, so one refused address refuses the host.
    if (addresses.length === 0 || addresses.length !== found.length)
      throw new AddressRefusedError(
        'The host name of the address does not resolve to an IP address.',
      )
    this.#checkAddresses(url, addresses)
    const hosts = found.toSorted((left, right) => familyOf(left) - familyOf(right)).map(toUrlHost)
    if (this.#checked.size >= MAX_REMEMBERED) this.#checked.clear()
    this.#checked.set(url.origin, { hosts, untilMs: this.#clock.elapsed() + REMEMBERED_MS })
    return hosts
  }

  #checkForm(url: URL): void {
    const isNamed = this.#isNamed(url)
    if (url.protocol === 'http:' && !isNamed && !this.#trustedHosts.hasRanges)
      throw new AddressRefusedError(HTTPS_ONLY)
    if (url.hostname.endsWith('.'))
      throw new AddressRefusedError('The host of the address ends in a dot. Remove the dot.')
    const address = parseIpAddress(toBareHost(url))
    if (address !== undefined) this.#checkAddresses(url, [address])
    else if (!isNamed && !this.#trustedHosts.hasRanges) {
      checkPort(portOf(url))
      checkPublicName(url.hostname)
    }
  }

  #checkAddresses(url: URL, addresses: readonly IpAddress[]): void {
    const port = portOf(url)
    if (addresses.every((address) => this.#trustedHosts.covers(url.hostname, port, address))) return
    checkPort(port)
    if (url.protocol === 'http:') throw new AddressRefusedError(HTTPS_ONLY)
    if (!addresses.every((address) => classifyAddress(address) === 'public'))
      throw new AddressRefusedError(
        'The host resolves to an address outside the public internet that the operator has not listed in GATEHOUSE_TRUSTED_HOSTS.',
      )
    if (parseIpAddress(toBareHost(url)) === undefined) checkPublicName(url.hostname)
    // Ports below 1024 belong to mail, file and login servers; models behind https use higher
    // ports.
    if (port !== 443 && port < 1024)
      throw new AddressRefusedError(
        'The port of the address belongs to another service. Use 443, or a port from 1024 up.',
      )
  }

  #goesByProxy(url: URL): boolean {
    return this.#isProxied({ protocol: url.protocol, hostname: url.hostname, port: portOf(url) })
  }

  #isNamed(url: URL): boolean {
    return this.#trustedHosts.names(url.hostname, portOf(url))
  }

  /** Concurrent calls that need the same name share one lookup. */
  #lookUp(hostname: string): Promise<readonly string[]> {
    const underWay = this.#lookUps.get(hostname)
    if (underWay !== undefined) return underWay
    const lookUp = this.#lookUpNow(hostname).finally(() => this.#lookUps.delete(hostname))
    this.#lookUps.set(hostname, lookUp)
    return lookUp
  }

  async #lookUpNow(hostname: string): Promise<readonly string[]> {
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => timeout.reject(new Error('the name was not resolved in time')),
      this.#resolveTimeoutMs,
    )
    try {
      const found = await Promise.race([this.#resolve(hostname), timeout.promise])
      if (found.length === 0) throw new Error('the name has no address')
      return found
    } catch (cause) {
      throw new UpstreamFailure(
        'connect_failed',
        'The host name of the upstream could not be resolved.',
        {
          cause,
        },
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

const HTTPS_ONLY =
  'The address must begin with https://. Only hosts that the operator lists in GATEHOUSE_TRUSTED_HOSTS may use http.'

/**
 * Accepts only the plain spelling. Other spellings (numbers for IP addresses, escapes, other
 * alphabets) are used to deceive a check.
 */
function parseAddress(address: string): URL {
  const url = URL.parse(address)
  if (url === null || !/^https?:\/\//i.test(address))
    throw new AddressRefusedError(
      'The address must be absolute, such as https://models.example.com/v1.',
    )
  if (url.username !== '' || url.password !== '' || authorityOf(address).includes('@'))
    throw new AddressRefusedError(
      'The address must not contain a user name or password. The credential has its own field.',
    )
  if (address.includes('?') || address.includes('#'))
    throw new AddressRefusedError('The address must not contain a query or a fragment.')
  if (url.port === '0') throw new AddressRefusedError('Port 0 cannot be used.')
  const authority = authorityOf(address).toLowerCase()
  const isPlain = authority === url.host || authority === `${url.hostname}:${portOf(url)}`
  if (!isPlain)
    throw new AddressRefusedError(
      'The host must be an ASCII name (xn--… for others), four decimal numbers, or an IPv6 address in its short form.',
    )
  if (
    !/^[\x21-\x7e]*$/.test(address) ||
    address.includes('\\') ||
    /%(?:2e|2f|5c|00)|\/\.{1,2}(?:\/|$)/i.test(address)
  )
    throw new AddressRefusedError(
      'The path must not contain spaces, backslashes, dot segments or encoded slashes.',
    )
  return url
}

function authorityOf(address: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(address)?.[1] ?? ''
}

/**
 * Names that are valid only inside a network (RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN's
 * .internal).
 */
const INNER_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|onion|invalid|test|example|alt)$/

function checkPublicName(hostname: string): void {
  if (!hostname.includes('.') || INNER_NAMES.test(hostname))
    throw new AddressRefusedError(
      'The host name is internal, and the operator has not listed it in GATEHOUSE_TRUSTED_HOSTS.',
    )
}

/** Ports of other protocols (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95],
  ...[101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
  ...[389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601],
  ...[636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
])

/** A server of another protocol might run the lines of a request as its own commands. */
function checkPort(port: number): void {
  if (!BLOCKED_PORTS.has(port)) return
  throw new AddressRefusedError(
    `Port ${port} belongs to another protocol: browsers refuse it (the Fetch standard's "bad ports"), and so does this gateway. Use another port; the operator can list the host in GATEHOUSE_TRUSTED_HOSTS.`,
  )
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

function toBareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function toUrlHost(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}

/** Sorts IPv4 first: some machines have IPv6 addresses but no IPv6 route to the internet. */
function familyOf(address: string): number {
  return address.includes(':') ? 6 : 4
}

/**
 * Resolves without `getaddrinfo`, which blocks a thread of a small pool. A customer's name server
 * that never answers would block the threads that files and passwords need.
 */
async function resolveHost(hostname: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(hostname, { backend: 'c-ares' })
  return found.map(({ address }) => address)
}
