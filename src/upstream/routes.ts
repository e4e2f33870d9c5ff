/**
 * Which connections a request may take, and how its first lines name its upstream. Connects to
 * nothing and knows no LLM.
 */
import { isIP } from 'node:net'
import type { Route } from './connection.ts'
import type { HttpProxy, Proxies } from './proxies.ts'

/** What is the same for every request to one address. */
export interface UpstreamAddress {
  /** The request's target and host, as its first two lines. */
  readonly opening: string
  /** The routes that lead there, best first; never none. */
  readonly routes: readonly Route[]
}

/**
 * Addresses that are kept ready; accounts name their own, so there is no telling how many there
 * are.
 */
const MAX_KEPT = 4_096
/** Where a customer's own server says nothing: those on Node close after five seconds. */
const GUARDED_KEEP_ALIVE_MS = 4_000

export class Routes {
  readonly #proxies: Proxies
  readonly #kept = new Map<string, UpstreamAddress>()

  constructor(proxies: Proxies) {
    this.#proxies = proxies
  }

  /**
   * @param addresses that were checked and may be connected to; undefined: whatever the URL's host
   * leads to
   */
  of(url: string, addresses: readonly string[] | undefined): UpstreamAddress {
    const key = addresses === undefined ? url : `${url} ${addresses.join(' ')}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const made = this.#make(new URL(url), addresses)
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(key, made)
    return made
  }

  #make(url: URL, addresses: readonly string[] | undefined): UpstreamAddress {
    const { protocol, hostname, host, pathname, search } = url
    const isSecure = protocol === 'https:'
    const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
    const proxy = this.#proxies.find({ protocol, hostname, port })
    const bare = hostname.replace(/^\[|\]$/g, '')
    const serverName = isSecure ? bare : undefined
    const routes = (addresses ?? [bare]).map((address) => {
      const assumedKeepAliveMs =
        addresses === undefined ? Number.POSITIVE_INFINITY : GUARDED_KEEP_ALIVE_MS
      const key = `${isSecure} ${address} ${port} ${serverName} ${assumedKeepAliveMs}`
      return { key, address, port, serverName, proxy, assumedKeepAliveMs }
    })
    // A proxy that is no tunnel is told the whole address (RFC 9112 §3.2.2).
    const target =
      proxy === undefined || isSecure
        ? ''
        : `http://${authorityOf(routes[0]?.address ?? bare, port)}`
    const permission = isSecure || proxy === undefined ? '' : permissionOf(proxy)
    return {
      opening: `POST ${target}${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${permission}`,
      routes,
    }
  }
}

function permissionOf({ authorization }: HttpProxy): string {
  return authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
}

function authorityOf(address: string, port: number): string {
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}
