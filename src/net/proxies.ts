/** Decides from the environment which calls use a proxy. */
import { isIPv4, isIPv6 } from 'node:net'
import { type IpRange, isInRange, parseIpAddress, parseLooseIpRange } from './address-ranges.ts'

export interface HttpProxy {
  readonly host: string
  readonly port: number
  /** For `proxy-authorization`; undefined when the proxy needs none. */
  readonly authorization: string | undefined
  /**
   * The proxy itself uses TLS. TLS inside TLS is unsupported (the runtime hangs without an error).
   */
  readonly isSecure: boolean
}

export interface ProxyEnvironment {
  readonly [name: string]: string | undefined
}

type Exception = HostException | { readonly range: IpRange }

interface HostException {
  /** A host suffix without its leading dot; `*` matches every host. */
  readonly host: string
  readonly port: number | undefined
}

export class ProxiesError extends Error {
  override readonly name = 'ProxiesError'
}

export class Proxies {
  readonly #http: HttpProxy | undefined
  readonly #https: HttpProxy | undefined
  readonly #exceptions: readonly Exception[]

  /** @throws ProxiesError naming the variable whose value is not a proxy's address */
  constructor(environment: ProxyEnvironment) {
    const every = readProxy(environment, 'ALL_PROXY')
    this.#http = readProxy(environment, 'HTTP_PROXY') ?? every
    this.#https = readProxy(environment, 'HTTPS_PROXY') ?? every
    this.#exceptions = (read(environment, 'NO_PROXY') ?? '').split(',').flatMap(parseException)
  }

  find(url: {
    readonly protocol: string
    readonly hostname: string
    readonly port: number
  }): HttpProxy | undefined {
    const proxy = url.protocol === 'https:' ? this.#https : this.#http
    if (proxy === undefined || isLoopback(url.hostname)) return undefined
    return this.#exceptions.some((exception) => covers(exception, url.hostname, url.port))
      ? undefined
      : proxy
  }

  /** True when https calls would need a proxy over TLS, which is unsupported. */
  get hasUnusable(): boolean {
    return this.#https?.isSecure === true
  }
}

function read(environment: ProxyEnvironment, name: string): string | undefined {
  const value = environment[name.toLowerCase()] ?? environment[name]
  return value?.trim() === '' ? undefined : value?.trim()
}

function readProxy(environment: ProxyEnvironment, name: string): HttpProxy | undefined {
  const text = read(environment, name)
  if (text === undefined) return undefined
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || url.hostname === '' || !/^https?:$/.test(url.protocol))
    throw new ProxiesError(
      `${name} is not the address of an HTTP proxy, such as http://proxy.example.com:3128.`,
    )
  const isSecure = url.protocol === 'https:'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    authorization: readAuthorization(url, name),
    isSecure,
  }
}

function readAuthorization({ username, password }: URL, name: string): string | undefined {
  if (username === '' && password === '') return undefined
  try {
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    return `Basic ${Buffer.from(user).toString('base64')}`
  } catch {
    throw new ProxiesError(
      `${name} contains a name or password with an invalid percent escape. Write % as %25.`,
    )
  }
}

function parseException(entry: string): readonly Exception[] {
  const text = entry.trim().toLowerCase()
  const range = parseLooseIpRange(text)
  if (range !== undefined) return [{ range }]
  // A URL puts brackets around an IPv6 address and normalises it.
  if (isIPv6(text)) return [{ host: new URL(`http://[${text}]`).hostname, port: undefined }]
  const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host === '') return []
  return [{ host: host.replace(/^\*?\./, ''), port: port === undefined ? undefined : Number(port) }]
}

function isWithin(range: IpRange, hostname: string): boolean {
  const address = parseIpAddress(hostname.replace(/^\[|\]$/g, ''))
  return address !== undefined && isInRange(address, range)
}

function covers(exception: Exception, hostname: string, port: number): boolean {
  if ('range' in exception) return isWithin(exception.range, hostname)
  if (exception.port !== undefined && exception.port !== port) return false
  const { host } = exception
  return host === '*' || hostname === host || hostname.endsWith(`.${host}`)
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    (hostname.startsWith('127.') && isIPv4(hostname))
  )
}
