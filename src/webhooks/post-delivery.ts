/** One attempt to bring an event to its webhook. Must not know queues or retries. */
import { createHmac } from 'node:crypto'
import type { Secret } from '../core/secret.ts'

const TIMEOUT_MS = 5_000

interface Post {
  readonly url: string
  readonly secret: Secret
  readonly deliveryId: string
  readonly event: string
  readonly body: string
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number
  /** Aborts when the process ends. */
  readonly signal?: AbortSignal
}

export interface PostOutcome {
  readonly delivered: boolean
  /** Null when there was no answer. */
  readonly status: number | null
  /** In a few words, and nothing of what was answered. */
  readonly detail: string
}

/** Never rejects. A redirect is refused: it may lead anywhere. */
export async function postDelivery(post: Post, addresses: AddressPolicy): Promise<PostOutcome> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const { url, host, serverName, isDirect } = await addresses.locate(post.url)
    const response = await fetch(url, {
      method: 'POST',
      decompress: false,
      redirect: 'manual',
      headers: {
        ...(host === undefined ? {} : { host }),
        'content-type': 'application/json',
        'user-agent': 'gatehouse-webhooks',
        'x-gatehouse-event': post.event,
        'x-gatehouse-delivery': post.deliveryId,
        ...signatures(post),
      },
      body: post.body,
      ...(serverName === undefined ? {} : { tls: { serverName } }),
      // The runtime would judge NO_PROXY by the address in place of the name.
      ...(isDirect === true ? { proxy: false } : {}),
      signal: post.signal === undefined ? timeout : AbortSignal.any([timeout, post.signal]),
    })
    // Nobody reads it, however much it is.
    await response.body?.cancel().catch(() => {})
    const { status } = response
    const delivered = status >= 200 && status <= 299
    const isRedirect = status >= 300 && status <= 399
    return {
      delivered,
      status,
      detail: isRedirect ? 'redirects are refused' : `answered ${status}`,
    }
  } catch (error) {
    return { delivered: false, status: null, detail: describe(error, timeout) }
  }
}

function describe(error: unknown, timeout: AbortSignal): string {
  if (timeout.aborted) return `did not answer within ${TIMEOUT_MS / 1000} s`
  if (error instanceof Error && error.name === 'AddressRefusedError')
    return `the address ${error.message}`
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
  return `could not be reached (${code})`
}

/**
 * Ours, and those of Standard Webhooks (https://www.standardwebhooks.com), which libraries check.
 * The time is signed, so that a receiver can refuse what somebody has recorded and sends again
 * later.
 */
function signatures({ body, secret, nowMs, deliveryId }: Post): Record<string, string> {
  const seconds = String(Math.floor(nowMs / 1000))
  const own = createHmac('sha256', secret.reveal()).update(`${seconds}.${body}`)
  const standard = createHmac('sha256', standardKey(secret))
  return {
    'x-gatehouse-signature': `t=${seconds},v1=${own.digest('hex')}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard.update(`${deliveryId}.${seconds}.${body}`).digest('base64')}`,
  }
}

/** A text that is no base64 would be decoded to less than it is, or to nothing. */
function standardKey(secret: Secret): string | Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.reveal()) ?? []
  return base64 === undefined ? secret.reveal() : Buffer.from(base64, 'base64')
}

/** A place to connect to, as the check of the address wants it connected to. */
/**
 * The port to the part that decides where customers' addresses may lead. It must not know
 * how that is decided.
 */
interface Destination {
  readonly url: string
  /** For the header `host`, where the url holds an IP address instead of the name. */
  readonly host: string | undefined
  /** The name that the certificate must have, where it is not the url's host. */
  readonly serverName: string | undefined
  /** True where no proxy is to be used, whatever the environment says. */
  readonly isDirect?: boolean
}

/** Both reject with an `AddressRefusedError` that says why. */
export interface AddressPolicy {
  /** For an address that is to be saved. */
  check(address: string): Promise<unknown>
  /** For one that is connected to now. */
  locate(address: string): Promise<Destination>
}

export type CheckAddress = AddressPolicy['check']
