/** Internal hosts that the operator allows for owned models (`GATEHOUSE_TRUSTED_HOSTS`). */
import {
  type AddressKind,
  classifyAddress,
  type IpAddress,
  type IpRange,
  isInRange,
  parseIpAddress,
  parseIpRange,
} from './address-ranges.ts'

export class TrustedHostsError extends Error {
  override readonly name = 'TrustedHostsError'
}

type TrustedHost = { readonly port: number | undefined } & (
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'suffix'; readonly suffix: string }
  | { readonly type: 'range'; readonly range: IpRange }
)

/**
 * The kinds of address that a trusted name may have. Never cloud metadata, because others may
 * control the name's DNS.
 */
const NAMED_KINDS: ReadonlySet<AddressKind> = new Set([
  'public',
  'loopback',
  'private',
  'shared',
] satisfies AddressKind[])

export class TrustedHosts {
  readonly #hosts: readonly TrustedHost[]

  /**
   * @param entries `host`, `host:port`, `*.suffix`, `*.suffix:port`, an address, `[address]:port`,
   * or `address/prefix length`
   * @throws TrustedHostsError naming the invalid entry
   */
  constructor(entries: readonly string[]) {
    this.#hosts = entries.map(parseTrustedHost)
  }

  names(hostname: string, port: number): boolean {
    return this.#hosts.some((host) => isOpen(host, port) && isNamed(host, hostname))
  }

  covers(hostname: string, port: number, address: IpAddress): boolean {
    const kind = classifyAddress(address)
    if (NAMED_KINDS.has(kind) && this.names(hostname, port)) return true
    return this.#hosts.some(
      (host) =>
        host.type === 'range' &&
        isOpen(host, port) &&
        isInRange(address, host.range) &&
        // A trusted network does not include its metadata service, so the operator must list that
        // service.
        (kind !== 'metadata' || host.range.prefixLength === host.range.start.bits),
    )
  }

  /** True when any address range is listed, so an unknown name may resolve into a listed range. */
  get hasRanges(): boolean {
    return this.#hosts.some((host) => host.type === 'range')
  }
}

function isOpen(host: TrustedHost, port: number): boolean {
  return host.port === undefined || host.port === port
}

function isNamed(host: TrustedHost, hostname: string): boolean {
  if (host.type === 'name') return host.name === hostname
  return (
    host.type === 'suffix' && hostname.endsWith(host.suffix) && hostname.length > host.suffix.length
  )
}

const NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

function parseTrustedHost(entry: string): TrustedHost {
  const text = entry.trim().toLowerCase()
  if (text.includes('/')) {
    const range = parseIpRange(text)
    if (range === undefined) throw notAHost(entry)
    return { type: 'range', range, port: undefined }
  }
  const bare = parseIpAddress(text)
  if (bare !== undefined) return single(bare, undefined)
  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text)
  if (parts === null) throw notAHost(entry)
  const [, bracketed, plain = '', portText] = parts
  const port = portText === undefined ? undefined : Number(portText)
  if (port !== undefined && (port < 1 || port > 65_535)) throw notAHost(entry)
  const address = parseIpAddress(bracketed ?? plain)
  if (address !== undefined) return single(address, port)
  if (bracketed !== undefined) throw notAHost(entry)
  // A name whose last part is a number is an IP address in another spelling, or invalid.
  const name = plain.startsWith('*.') ? plain.slice(2) : plain
  if (!NAME.test(name) || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)) throw notAHost(entry)
  return plain === name
    ? { type: 'name', name, port }
    : { type: 'suffix', suffix: `.${name}`, port }
}

function single(start: IpAddress, port: number | undefined): TrustedHost {
  return { type: 'range', range: { start, prefixLength: start.bits }, port }
}

function notAHost(entry: string): TrustedHostsError {
  return new TrustedHostsError(
    `GATEHOUSE_TRUSTED_HOSTS: '${entry}' is not a host. Write host, host:port, *.suffix, an IP address or a range such as 10.0.0.0/8, separated by commas.`,
  )
}
