import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AddressGuard, AddressRefusedError } from './address-guard.ts'
import { classifyAddress, parseIpAddress } from './address-ranges.ts'
import { TrustedHosts } from './trusted-hosts.ts'
import { UpstreamFailure } from './upstream-failure.ts'

const PUBLIC = '93.184.215.14'

/** Host name → its addresses. Other names do not exist. */
function guard(
  names: Readonly<Record<string, readonly string[]>> = {},
  trusted: readonly string[] = [],
) {
  const asked: string[] = []
  const time = { now: 0 }
  const guarded = new AddressGuard({
    trustedHosts: new TrustedHosts(trusted),
    clock: { elapsed: () => time.now },
    async resolve(hostname) {
      asked.push(hostname)
      const found = names[hostname]
      if (found === undefined) throw new Error('ENOTFOUND')
      return found
    },
  })
  return { guarded, asked, time }
}

const leadsTo = (address: string) => ({ 'models.vendor.com': [address] })
const NAMED = 'https://models.vendor.com/v1'

/** Every name here resolves to a public address, so only the form of the address can be refused. */
const EVASIONS: readonly (readonly [what: string, address: string])[] = [
  ['loopback', 'https://127.0.0.1/v1'],
  ['loopback, elsewhere in its range', 'https://127.8.9.1/v1'],
  ['IPv4 as one decimal number', 'https://2130706433/'],
  ['IPv4 as one octal number', 'https://017700000001/'],
  ['IPv4 as one hexadecimal number', 'https://0x7f000001/'],
  ['IPv4 in capital hexadecimal', 'https://0X7F.0X0.0X0.0X1/'],
  ['IPv4 with octal parts', 'https://0177.0.0.1/'],
  ['IPv4 with hexadecimal parts', 'https://0x7f.0.0.1/'],
  ['IPv4 with mixed parts', 'https://0x7f.0.01/'],
  ['IPv4 of two parts', 'https://127.1/'],
  ['IPv4 of three parts', 'https://127.0.1/'],
  ['IPv4 with leading zeros', 'https://127.000.000.001/'],
  ['IPv4 with a trailing dot', 'https://127.0.0.1./'],
  ['IPv4 in full-width digits', 'https://１２７.０.０.１/'],
  ['IPv4 in circled digits', 'https://①②⑦.⓪.⓪.①/'],
  ['IPv4 with ideographic dots', 'https://127。0。0。1/'],
  ['IPv4, percent-encoded', 'https://%31%32%37.0.0.1/'],
  ['IPv4 with an encoded dot', 'https://127%2e0%2e0%2e1/'],
  ['a public IPv4 as a decimal number', 'https://1572395790/'],
  ['a public IPv4 with an octal part', 'https://0135.184.215.14/'],
  ['zero', 'https://0/'],
  ['this host', 'https://0.0.0.0/'],
  ['private 10', 'https://10.0.0.1/'],
  ['private 172.16', 'https://172.16.0.1/'],
  ['private 172.31', 'https://172.31.255.255/'],
  ['private 192.168', 'https://192.168.1.1/'],
  ['carrier-grade NAT', 'https://100.64.0.1/'],
  ['link-local', 'https://169.254.1.1/'],
  ['metadata', 'https://169.254.169.254/latest/meta-data/'],
  ['metadata as a number', 'https://2852039166/'],
  ['metadata of containers', 'https://169.254.170.2/'],
  ["another cloud's metadata", 'https://100.100.100.200/'],
  ['a metadata service with a public address', 'https://168.63.129.16/'],
  ['IETF assignments', 'https://192.0.0.1/'],
  ['documentation 1', 'https://192.0.2.1/'],
  ['documentation 2', 'https://198.51.100.1/'],
  ['documentation 3', 'https://203.0.113.1/'],
  ['6to4 relays', 'https://192.88.99.1/'],
  ['benchmarking', 'https://198.18.0.1/'],
  ['benchmarking, its end', 'https://198.19.255.255/'],
  ['multicast', 'https://224.0.0.1/'],
  ['reserved', 'https://240.0.0.1/'],
  ['broadcast', 'https://255.255.255.255/'],
  ['IPv6 loopback', 'https://[::1]/'],
  ['IPv6 loopback, written out', 'https://[0:0:0:0:0:0:0:1]/'],
  ['IPv6 unspecified', 'https://[::]/'],
  ['IPv4-mapped loopback', 'https://[::ffff:127.0.0.1]/'],
  ['IPv4-mapped loopback in hexadecimal', 'https://[::ffff:7f00:1]/'],
  ['IPv4-mapped metadata', 'https://[::ffff:a9fe:a9fe]/'],
  ['IPv4-mapped public', 'https://[::ffff:5db8:d70e]/'],
  ['IPv4-compatible', 'https://[::7f00:1]/'],
  ['IPv4-translated', 'https://[::ffff:0:7f00:1]/'],
  ['6to4 of loopback', 'https://[2002:7f00:1::]/'],
  ['6to4 of a private address', 'https://[2002:c0a8:101::1]/'],
  ['NAT64 of loopback', 'https://[64:ff9b::7f00:1]/'],
  ['NAT64 of metadata', 'https://[64:ff9b::a9fe:a9fe]/'],
  ['NAT64 for local use', 'https://[64:ff9b:1::1]/'],
  ['Teredo', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/'],
  ['ISATAP of loopback', 'https://[2a00:1450::5efe:7f00:1]/'],
  ['unique local', 'https://[fd12:3456:789a::1]/'],
  ['unique local, fc', 'https://[fc00::1]/'],
  ["a cloud's metadata over IPv6", 'https://[fd00:ec2::254]/'],
  ['IPv6 link-local', 'https://[fe80::1]/'],
  ['IPv6 link-local with a zone', 'https://[fe80::1%25eth0]/'],
  ['IPv6 site-local', 'https://[fec0::1]/'],
  ['IPv6 multicast', 'https://[ff02::1]/'],
  ['IPv6 documentation', 'https://[2001:db8::1]/'],
  ['IPv6 documentation, new', 'https://[3fff::1]/'],
  ['IPv6 discard', 'https://[100::1]/'],
  ['IPv6 that was never given out', 'https://[4000::1]/'],
  ['a public IPv6 in its long form', 'https://[2606:4700:0000:0000:0000:0000:0000:1111]/'],
  ['localhost', 'https://localhost/'],
  ['localhost in capitals', 'https://LOCALHOST/'],
  ['localhost with a trailing dot', 'https://localhost./'],
  ['a name under localhost', 'https://models.localhost/'],
  ['a name with a trailing dot', 'https://models.vendor.com./'],
  ['a name of one part', 'https://vllm/'],
  ['.local', 'https://printer.local/'],
  ['.internal', 'https://metadata.google.internal/'],
  ['.home.arpa', 'https://nas.home.arpa/'],
  ['.lan', 'https://nas.lan/'],
  ['a name in another alphabet', 'https://mödels.vendor.com/'],
  ['a name with a soft hyphen', 'https://models\u00ad.vendor.com/'],
  ['a name in full width', 'https://ｍodels.vendor.com/'],
  ['a percent-encoded name', 'https://%6dodels.vendor.com/'],
  ['a user name', 'https://user@models.vendor.com/'],
  ['a user name and password', 'https://user:word@models.vendor.com/'],
  ['an empty user name', 'https://@models.vendor.com/'],
  ['a host as user name', 'https://models.vendor.com@127.0.0.1/'],
  ['an encoded host as user name', 'https://models.vendor.com%2f@127.0.0.1/'],
  ['a backslash before the real host', 'https://models.vendor.com\\@127.0.0.1/'],
  ['backslashes for slashes', 'https:\\\\127.0.0.1\\'],
  ['one slash', 'https:/127.0.0.1/'],
  ['no slashes', 'https:127.0.0.1'],
  ['three slashes', 'https:///127.0.0.1/'],
  ['no scheme', '//models.vendor.com/v1'],
  ['a tab in the host', 'https://127.0.\t0.1/'],
  ['a line break in the host', 'https://models.vendor.com\n/'],
  ['a space before it', ' https://models.vendor.com/'],
  ['http', 'http://models.vendor.com/v1'],
  ['http to a public address', `http://${PUBLIC}/v1`],
  ['file', 'file:///etc/passwd'],
  ['ftp', 'ftp://models.vendor.com/'],
  ['gopher', 'gopher://models.vendor.com/'],
  ['data', 'data:text/plain,x'],
  ['a socket', 'unix:///var/run/docker.sock'],
  ['ws', 'wss://models.vendor.com/'],
  ['port 0', 'https://models.vendor.com:0/'],
  ["a login server's port", 'https://models.vendor.com:22/'],
  ["a mail server's port", 'https://models.vendor.com:25/'],
  ['port 80 by https', 'https://models.vendor.com:80/'],
  ['an invalid port', 'https://models.vendor.com:65536/'],
  ['an encoded port', 'https://models.vendor.com:4%343/'],
  ['a query', 'https://models.vendor.com/v1?to='],
  ['an empty query', 'https://models.vendor.com/v1?'],
  ['a fragment', 'https://models.vendor.com/v1#'],
  ['steps up in the path', 'https://models.vendor.com/v1/../admin'],
  ['encoded steps up', 'https://models.vendor.com/v1/%2e%2e/admin'],
  ['a broken IPv6 address', 'https://[::1/'],
  ['nothing', ''],
]

describe('ways around the rule', () => {
  test.each(EVASIONS)('%s is refused: %s', async (_what, address) => {
    const { guarded } = guard(new Proxy({}, { get: () => [PUBLIC] }))
    await expect(guarded.check(address)).rejects.toBeInstanceOf(AddressRefusedError)
  })

  test.each(EVASIONS)(
    '%s stays refused although other hosts are trusted: %s',
    async (_what, address) => {
      const { guarded } = guard(new Proxy({}, { get: () => [PUBLIC] }), [
        'gpu.inside:8000',
        '*.models.inside',
        '10.9.0.0/16',
      ])
      await expect(guarded.check(address)).rejects.toBeInstanceOf(AddressRefusedError)
    },
  )

  test('there are more than sixty of them', () => expect(EVASIONS.length).toBeGreaterThan(60))
})

describe('a port that browsers refuse', () => {
  test.each([22, 25, 587, 6000, 6667, 10080])(
    '%i is refused by the name of the rule',
    async (port) => {
      for (const host of ['models.vendor.com', PUBLIC, 'unknown.vendor.com']) {
        const { guarded } = guard(leadsTo(PUBLIC))
        const refused = guarded.check(`https://${host}:${port}/v1`)
        await expect(refused).rejects.toThrow(`Port ${port} belongs to another protocol`)
        await expect(refused).rejects.toThrow('Fetch standard')
      }
      const { guarded } = guard(leadsTo(PUBLIC))
      // An address saved by a version without the rule.
      const address = `https://models.vendor.com:${port}/v1`
      await expect(guarded.resolve(address)).rejects.toBeInstanceOf(AddressRefusedError)
      await expect(guarded.locate(address)).rejects.toBeInstanceOf(AddressRefusedError)
    },
  )

  test('is allowed on a host that the operator trusts', async () => {
    const { guarded } = guard({ 'gpu.inside': ['10.1.2.3'] }, ['gpu.inside:6000', '10.9.0.0/16'])
    expect(await guarded.check('http://gpu.inside:6000/v1')).toBe('allowed')
    expect(await guarded.check('http://10.9.1.1:6667/v1')).toBe('allowed')
  })

  test.each([443, 8443, 8080, 11434, 1234])('%i is none', async (port) => {
    const { guarded } = guard(leadsTo(PUBLIC))
    expect(await guarded.check(`https://models.vendor.com:${port}/v1`)).toBe('allowed')
  })
})

describe('a name with a forbidden address', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '100.64.1.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:93.184.215.14',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    'not an address',
    '127.1',
  ])('%s', async (address) => {
    await expect(guard(leadsTo(address)).guarded.check(NAMED)).rejects.toBeInstanceOf(
      AddressRefusedError,
    )
    await expect(guard(leadsTo(address)).guarded.locate(NAMED)).rejects.toBeInstanceOf(
      AddressRefusedError,
    )
  })

  test('is refused for one bad address among good ones', async () => {
    const { guarded } = guard({ 'models.vendor.com': [PUBLIC, '10.0.0.1'] })
    await expect(guarded.check(NAMED)).rejects.toBeInstanceOf(AddressRefusedError)
  })

  test('has an error message without the address', async () => {
    await expect(guard(leadsTo('10.1.2.3')).guarded.check(NAMED)).rejects.toThrow(
      /^(?!.*10\.1\.2\.3)/,
    )
  })
})

describe('an allowed address', () => {
  test.each([
    [
      'a name',
      NAMED,
      [PUBLIC],
      { url: `https://${PUBLIC}/v1`, host: 'models.vendor.com', serverName: 'models.vendor.com' },
    ],
    [
      'a name with a port',
      'https://models.vendor.com:8443/v1',
      [PUBLIC],
      {
        url: `https://${PUBLIC}:8443/v1`,
        host: 'models.vendor.com:8443',
        serverName: 'models.vendor.com',
      },
    ],
    [
      'the port that https has anyway',
      'https://models.vendor.com:443/v1',
      [PUBLIC],
      { host: 'models.vendor.com' },
    ],
    ['capitals', 'https://Models.Vendor.COM/v1', [PUBLIC], { serverName: 'models.vendor.com' }],
    [
      'a name in its ASCII form',
      'https://xn--mdels-jua.vendor.com/',
      [PUBLIC],
      { url: `https://${PUBLIC}/` },
    ],
    ['IPv6', NAMED, ['2606:4700::1111'], { url: 'https://[2606:4700::1111]/v1' }],
    ['IPv4 before IPv6', NAMED, ['2606:4700::1111', PUBLIC], { url: `https://${PUBLIC}/v1` }],
    [
      'NAT64 of a public address',
      NAMED,
      ['64:ff9b::5db8:d70e'],
      { url: 'https://[64:ff9b::5db8:d70e]/v1' },
    ],
    [
      'an IPv4 address',
      `https://${PUBLIC}/v1`,
      [],
      { url: `https://${PUBLIC}/v1`, host: undefined, serverName: undefined },
    ],
    [
      'an IPv6 address',
      'https://[2606:4700::1111]:8443/',
      [],
      { url: 'https://[2606:4700::1111]:8443/', host: undefined },
    ],
  ])('%s: %s', async (_what, address, found, destination) => {
    const names = new Proxy({}, { get: () => found })
    expect(await guard(names).guarded.check(address)).toBe('allowed')
    expect(await guard(names).guarded.locate(address)).toMatchObject(destination)
  })

  test('a name without an address yet is allowed by its form, and fails when it is called', async () => {
    const { guarded } = guard()
    expect(await guarded.check(NAMED)).toBe('unresolved')
    await expect(guarded.locate(NAMED)).rejects.toBeInstanceOf(UpstreamFailure)
    await expect(guarded.check('http://models.vendor.com/')).rejects.toBeInstanceOf(
      AddressRefusedError,
    )
  })
})

describe('hosts that the operator trusts', () => {
  test.each([
    ['a name', ['gpu.inside'], 'http://gpu.inside:8000/v1', ['10.0.0.5'], true],
    ['a name of one part', ['vllm'], 'http://vllm:8000/v1', ['172.18.0.3'], true],
    ['localhost', ['localhost'], 'http://localhost:11434/v1', ['127.0.0.1', '::1'], true],
    ['a name with its port', ['gpu.inside:8000'], 'http://gpu.inside:8000/v1', ['10.0.0.5'], true],
    [
      'a name with another port',
      ['gpu.inside:8000'],
      'http://gpu.inside:22/v1',
      ['10.0.0.5'],
      false,
    ],
    [
      'a name that holds a trusted one',
      ['gpu.inside'],
      'http://evil-gpu.inside/',
      ['10.0.0.5'],
      false,
    ],
    ['a suffix', ['*.inside'], 'http://a.b.inside/', ['10.0.0.5'], true],
    ['a suffix, and the name itself', ['*.inside'], 'http://inside/', ['10.0.0.5'], false],
    ['a suffix, and one that ends like it', ['*.inside'], 'http://notinside/', ['10.0.0.5'], false],
    ['an address', ['127.0.0.1'], 'http://127.0.0.1:11434/v1', [], true],
    ['an address with its port', ['127.0.0.1:11434'], 'http://127.0.0.1:11434/v1', [], true],
    ['an address with another port', ['127.0.0.1:11434'], 'http://127.0.0.1:22/v1', [], false],
    ['another address', ['127.0.0.1'], 'http://127.0.0.2/', [], false],
    ['an IPv6 address', ['[::1]:8000'], 'http://[::1]:8000/', [], true],
    ['a bare IPv6 address', ['::1'], 'http://[::1]:8000/', [], true],
    ['an address in a range', ['10.0.0.0/8'], 'http://10.2.3.4:8000/', [], true],
    ['a name that leads into a range', ['10.0.0.0/8'], 'http://vllm:8000/', ['10.2.3.4'], true],
    [
      'a name that leads half into it',
      ['10.0.0.0/8'],
      'http://vllm:8000/',
      ['10.2.3.4', '192.168.0.1'],
      false,
    ],
    ['an address outside of the range', ['10.0.0.0/8'], 'http://11.2.3.4:8000/', [], false],
    ['a mapped address of the range', ['10.0.0.0/8'], 'http://[::ffff:a02:304]/', [], false],
    [
      'metadata behind a trusted name',
      ['gpu.inside'],
      'http://gpu.inside/',
      ['169.254.169.254'],
      false,
    ],
    ['metadata inside a trusted range', ['169.254.0.0/16'], 'http://169.254.169.254/', [], false],
    ['metadata inside all there is', ['0.0.0.0/0'], 'http://169.254.169.254/', [], false],
    ['metadata that is named itself', ['169.254.169.254'], 'http://169.254.169.254/', [], true],
    ['multicast behind a trusted name', ['gpu.inside'], 'http://gpu.inside/', ['224.0.0.1'], false],
    [
      'http to a public name beside ranges',
      ['10.0.0.0/8'],
      'http://models.vendor.com/',
      [PUBLIC],
      false,
    ],
  ])('%s (%p): %s', async (_what, trusted, address, found, isAllowed) => {
    const { guarded } = guard(new Proxy({}, { get: () => found }), trusted)
    const checked = guarded.check(address)
    if (isAllowed) expect(await checked).toBe('allowed')
    else await expect(checked).rejects.toBeInstanceOf(AddressRefusedError)
  })

  test.each([
    '*',
    '10.0.0.1/8',
    '10.0.0.0/33',
    'host:0',
    'host:99999',
    'a b',
    'http://x',
    'x/y',
    '[x]:1',
    '127.1',
    '0x7f.1',
    '-x',
  ])('an invalid entry is refused by name: %s', (entry) =>
    expect(() => new TrustedHosts([entry])).toThrow(`'${entry}'`),
  )
})

describe('a name whose address changes a moment later', () => {
  test('is connected at the checked address, and a later look-up is checked again', async () => {
    const names: Record<string, readonly string[]> = { 'models.vendor.com': [PUBLIC] }
    const { guarded, asked, time } = guard(names)
    await guarded.check(NAMED)
    names['models.vendor.com'] = ['127.0.0.1']
    // The URL contains the checked address, so the name is not resolved again.
    expect((await guarded.locate(NAMED)).url).toBe(`https://${PUBLIC}/v1`)
    expect(asked).toHaveLength(1)
    time.now += 15_000
    await expect(guarded.locate(NAMED)).rejects.toBeInstanceOf(AddressRefusedError)
    expect(asked).toHaveLength(2)
  })

  test('is looked up once for calls at the same time, even if that fails', async () => {
    const names: Record<string, readonly string[]> = {}
    const { guarded, asked } = guard(names)
    const lost = await Promise.allSettled([1, 2, 3].map(() => guarded.locate(NAMED)))
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    names['models.vendor.com'] = [PUBLIC]
    await Promise.all([1, 2, 3].map(() => guarded.locate(NAMED)))
    expect(asked).toHaveLength(2)
  })

  test('fails without an answer in time, and is looked up again by the next call', async () => {
    let isSilent = true
    const guarded = new AddressGuard({
      trustedHosts: new TrustedHosts([]),
      resolveTimeoutMs: 5,
      resolve: () => (isSilent ? new Promise(() => undefined) : Promise.resolve([PUBLIC])),
    })
    await expect(guarded.locate(NAMED)).rejects.toBeInstanceOf(UpstreamFailure)
    isSilent = false
    expect((await guarded.locate(NAMED)).url).toContain(PUBLIC)
  })

  test('an address that does not answer gives way to the next of its name', async () => {
    const { guarded } = guard({ 'models.vendor.com': [PUBLIC, '1.1.1.1'] })
    expect((await guarded.locate(NAMED)).url).toContain(PUBLIC)
    guarded.avoid(NAMED)
    expect((await guarded.locate(NAMED)).url).toContain('1.1.1.1')
  })
})

describe('behind a forward proxy', () => {
  function proxied(trusted: readonly string[], direct: readonly string[] = []) {
    const asked: string[] = []
    const guarded = new AddressGuard({
      trustedHosts: new TrustedHosts(trusted),
      isProxied: ({ hostname }) => !direct.includes(hostname),
      async resolve(hostname) {
        asked.push(hostname)
        return [hostname.endsWith('.corp') ? '10.0.0.7' : PUBLIC]
      },
    })
    return { guarded, asked }
  }

  test('a host that the operator named keeps its name and is not resolved', async () => {
    const { guarded, asked } = proxied(['models.corp:8000', '*.gpu.corp'])
    for (const address of ['http://models.corp:8000/v1', 'https://a.gpu.corp/v1']) {
      expect(await guarded.check(address)).toBe('allowed')
      expect(await guarded.resolve(address)).toEqual([new URL(address).hostname])
      expect(await guarded.locate(address)).toMatchObject({ url: address, isDirect: false })
    }
    expect(asked).toEqual([])
  })

  test('every other host is resolved and checked here, and the proxy gets its address', async () => {
    const { guarded } = proxied(['models.corp:8000', '10.9.0.0/16'])
    expect(await guarded.resolve(NAMED)).toEqual([PUBLIC])
    expect(await guarded.locate(NAMED)).toMatchObject({
      url: `https://${PUBLIC}/v1`,
      host: 'models.vendor.com',
    })
    // An unlisted port, and an address outside the listed range.
    for (const address of ['https://models.corp:9000/v1', 'https://other.corp/v1'])
      await expect(guarded.resolve(address)).rejects.toBeInstanceOf(AddressRefusedError)
  })

  test('a host that no proxy is used for is resolved here, and reached without one', async () => {
    const { guarded, asked } = proxied(['models.corp'], ['models.corp'])
    expect(await guarded.locate('https://models.corp/v1')).toMatchObject({
      url: 'https://10.0.0.7/v1',
      isDirect: true,
    })
    expect(asked).toEqual(['models.corp'])
  })
})

describe('address ranges', () => {
  test('an IPv4 address embedded in IPv6 is never more open than by itself', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const parsed = parseIpAddress(address)
        const kind = parsed === undefined ? 'none' : classifyAddress(parsed)
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
        const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
        for (const text of [
          `::ffff:${address}`,
          `::ffff:${groups}`,
          `64:ff9b::${groups}`,
          `::${groups}`,
          `2002:${groups}::1`,
        ]) {
          const embedded = parseIpAddress(text)
          if (embedded === undefined) throw new Error(`not parsed: ${text}`)
          if (kind !== 'public') expect(classifyAddress(embedded)).not.toBe('public')
        }
      }),
    )
  })

  test('IPv6 is read the same, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const parsed = parseIpAddress(text)
        expect(parsed).toBeDefined()
        // The URL parser refuses some valid addresses and shortens the others.
        const url = URL.parse(`http://[${text}]/`)
        if (url !== null) expect(parsed).toEqual(parseIpAddress(url.hostname.slice(1, -1)))
      }),
    )
  })
})
