/**
 * Classifies IP addresses as public internet or special-purpose ranges (IANA's registries for IPv4
 * and IPv6).
 */
import { isIPv4, isIPv6 } from 'node:net'

export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'documentation'
  | 'unspecified'
  | 'translated'
  | 'reserved'

export interface IpAddress {
  readonly bits: 32 | 128
  readonly value: bigint
}

export interface IpRange {
  readonly start: IpAddress
  readonly prefixLength: number
}

/** @returns undefined for anything but a plain IPv4 or IPv6 address without a zone (`%eth0`) */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { bits: 32, value: parseIpv4(text) }
  return isIPv6(text) && !text.includes('%') ? { bits: 128, value: parseIpv6(text) } : undefined
}

/**
 * Parses `address/prefix length`.
 * @returns undefined for anything else, and when bits after the prefix are set
 */
export function parseIpRange(text: string): IpRange | undefined {
  const range = parseLooseIpRange(text)
  if (range === undefined) return undefined
  const { start, prefixLength } = range
  return BigInt.asUintN(start.bits - prefixLength, start.value) === 0n ? range : undefined
}

export function parseLooseIpRange(text: string): IpRange | undefined {
  const [address = '', length = '', ...rest] = text.split('/')
  const start = parseIpAddress(address)
  if (start === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length)) return undefined
  const prefixLength = Number(length)
  return prefixLength > start.bits ? undefined : { start, prefixLength }
}

export function isInRange(address: IpAddress, { start, prefixLength }: IpRange): boolean {
  if (address.bits !== start.bits) return false
  const rest = BigInt(start.bits - prefixLength)
  return address.value >> rest === start.value >> rest
}

export function classifyAddress(address: IpAddress): AddressKind {
  const known = address.bits === 32 ? IPV4_RANGES : IPV6_RANGES
  const kind = known.find(([range]) => isInRange(address, range))?.[1]
  if (kind === 'nat64') return classifyAddress(embeddedIpv4(address))
  if (kind === 'mapped') {
    const inner = classifyAddress(embeddedIpv4(address))
    return inner === 'public' ? 'translated' : inner
  }
  if (kind !== undefined) return kind
  if (address.bits === 32) return 'public'
  if (isIsatap(address)) return 'translated'
  // Only this eighth of IPv6 is assigned to the internet (RFC 4291 §2.4).
  return isInRange(address, GLOBAL_UNICAST) ? 'public' : 'reserved'
}

/** `mapped`, `nat64`: the last 32 bits are an IPv4 address, which decides the kind. */
type RangeKind = AddressKind | 'mapped' | 'nat64'

// The first match counts, so exceptions come before the larger range that contains them.
const IPV4_RANGES = toRanges([
  // Cloud metadata services answer here, with the machine's credentials.
  ['169.254.169.254/32', 'metadata'],
  ['169.254.170.2/32', 'metadata'],
  ['169.254.170.23/32', 'metadata'],
  ['100.100.100.200/32', 'metadata'],
  ['168.63.129.16/32', 'metadata'],
  ['192.0.0.192/32', 'metadata'],
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'translated'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
])

const IPV6_RANGES = toRanges([
  ['fd00:ec2::254/128', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'mapped'],
  ['::ffff:0:0:0/96', 'translated'],
  ['::/96', 'translated'],
  // An IPv6-only network reaches every IPv4 address through this prefix (RFC 6052).
  ['64:ff9b::/96', 'nat64'],
  ['64:ff9b:1::/48', 'translated'],
  ['2001::/32', 'translated'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', 'translated'],
  ['3fff::/20', 'documentation'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
])

const GLOBAL_UNICAST = toRange('2000::/3')

/** True when the interface id contains an IPv4 address, for a tunnel (RFC 5214 §6.1). */
function isIsatap({ value }: IpAddress): boolean {
  const marker = BigInt.asUintN(32, value >> 32n)
  return marker === 0x5efen || marker === 0x0200_5efen
}

function embeddedIpv4({ value }: IpAddress): IpAddress {
  return { bits: 32, value: BigInt.asUintN(32, value) }
}

function toRanges(
  rows: readonly (readonly [string, RangeKind])[],
): readonly (readonly [IpRange, RangeKind])[] {
  return rows.map(([text, kind]) => [toRange(text), kind] as const)
}

function toRange(text: string): IpRange {
  const range = parseIpRange(text)
  if (range === undefined) throw new Error(`not a range: ${text}`)
  return range
}

function parseIpv4(text: string): bigint {
  return text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n)
}

function parseIpv6(text: string): bigint {
  const lastColon = text.lastIndexOf(':')
  const tail = text.slice(lastColon + 1)
  if (tail.includes('.')) {
    const ipv4 = parseIpv4(tail)
    const groups = `${(ipv4 >> 16n).toString(16)}:${(ipv4 & 0xffffn).toString(16)}`
    return parseIpv6(text.slice(0, lastColon + 1) + groups)
  }
  const [head = '', after] = text.split('::')
  const before = toGroups(head)
  const behind = toGroups(after ?? '')
  const zeros = Array<bigint>(8 - before.length - behind.length).fill(0n)
  return [...before, ...zeros, ...behind].reduce((value, group) => value * 0x1_0000n + group, 0n)
}

function toGroups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`))
}
