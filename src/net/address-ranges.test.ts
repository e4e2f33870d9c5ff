import { describe, expect, test } from 'bun:test'
import {
  type AddressKind,
  classifyAddress,
  parseIpAddress,
  parseIpRange,
} from './address-ranges.ts'

/** Every range outside the public internet. A range within another range comes first. */
const CLOSED: readonly (readonly [string, AddressKind])[] = [
  ['168.63.129.16/32', 'metadata'],
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
  ['224.0.0.0/3', 'multicast'],
  ['2001::/23', 'translated'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', 'translated'],
  ['3fff::/20', 'documentation'],
]

function toText(value: bigint, bits: 32 | 128): string {
  const width = bits === 32 ? 8 : 16
  const parts = Array.from({ length: bits / width }, (_, at) =>
    BigInt.asUintN(width, value >> BigInt(bits - width * (at + 1))),
  )
  return bits === 32 ? parts.join('.') : parts.map((part) => part.toString(16)).join(':')
}

function kindOf(text: string): AddressKind | undefined {
  const address = parseIpAddress(text)
  return address === undefined ? undefined : classifyAddress(address)
}

function ends(text: string) {
  const range = parseIpRange(text)
  if (range === undefined) throw new Error(`not a range: ${text}`)
  const { value, bits } = range.start
  const last = value + (1n << BigInt(bits - range.prefixLength)) - 1n
  return { first: toText(value, bits), last: toText(last, bits), value, lastValue: last, bits }
}

describe('a range that is not the public internet', () => {
  test.each(CLOSED)('%s is closed from its first address to its last', (text, kind) => {
    const { first, last } = ends(text)
    expect(kindOf(first)).toBe(kind)
    expect(kindOf(last)).not.toBe('public')
  })

  test.each(CLOSED)('%s leaves both neighbours open', (text) => {
    const { value, lastValue, bits } = ends(text)
    for (const neighbour of [value - 1n, lastValue + 1n]) {
      const isAddress = neighbour >= 0n && neighbour < 1n << BigInt(bits)
      const isOther = CLOSED.some(([other]) => {
        const range = ends(other)
        return range.bits === bits && neighbour >= range.value && neighbour <= range.lastValue
      })
      if (isAddress && !isOther) expect(kindOf(toText(neighbour, bits))).toBe('public')
    }
  })
})

test('an IPv6 address outside 2000::/3 is never public', () => {
  for (const group of Array.from({ length: 0x1_00 }, (_, at) => (at << 8).toString(16)))
    for (const address of [`${group}::`, `${group}:ffff::1`, `${group}::a00:1`])
      if (!/^[23][0-9a-f]{3}:/.test(address)) expect(kindOf(address)).not.toBe('public')
})

describe('an IPv4 address within an IPv6 one', () => {
  const CLOSED_IPV4 = CLOSED.filter(([text]) => text.includes('.')).map(([text]) => ends(text))

  test.each([
    '::',
    '::ffff:',
    '::ffff:0:',
    '64:ff9b::',
    '64:ff9b:1::',
    '2a00::5efe:',
    '2a00::200:5efe:',
  ])('is closed behind %s where it is closed by itself', (prefix) => {
    for (const { first, last } of CLOSED_IPV4)
      for (const address of [first, last]) expect(kindOf(prefix + address)).not.toBe('public')
  })

  test('is that of an IPv4-mapped one only where ffff stands before it', () => {
    expect(kindOf('::ffff:10.0.0.1')).toBe('private')
    expect(kindOf('::10.0.0.1')).toBe('translated')
  })
})

test.each([
  '0177.0.0.1',
  '0x7f.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '127.0.0.01',
  '127.0.0.1.',
  '127.0.0.1%eth0',
  '::1%eth0',
  '::ffff:0177.0.0.1',
  '::ffff:127.1',
  '1::2::3',
  ':::1',
  '1:2:3:4:5:6:7:8:9',
  '00001::',
  '256.1.1.1',
  '[::1]',
  ' 1.2.3.4',
  '',
])("'%s' is not a plain address", (text) => expect(kindOf(text)).toBeUndefined())
