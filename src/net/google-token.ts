/**
 * Access tokens of a Google service account: obtained from its token endpoint, cached and renewed
 * in time. No message may contain a credential.
 */
import { GoogleToken } from 'google-auth-library'
import { type Clock, type Stopwatch, systemClock } from '../core/clock.ts'
import { readAtMost } from '../core/http.ts'
import type { Secret } from '../core/secret.ts'
import { type AddressGuard, AddressRefusedError } from './address-guard.ts'

/** `isRefusal`: the account was rejected, so the same request would fail again. */
export class GoogleTokenError extends Error {
  override readonly name = 'GoogleTokenError'
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal }: { readonly isRefusal: boolean }) {
    super(message)
    this.isRefusal = isRefusal
  }
}

/**
 * A service account is a JSON document; other credentials are keys or tokens that are sent
 * unchanged.
 */
export function isServiceAccount(credential: string): boolean {
  return credential.startsWith('{')
}

/** A token is renewed this long before its expiry, so no call outlives its token. */
const MARGIN_MS = 300_000
const EXCHANGE_TIMEOUT_MS = 10_000

interface Token {
  readonly text: string
  /** Milliseconds since the Unix epoch. This clock runs during sleep and may be set back. */
  readonly endsAt: number
  /** On the scale of `elapsed`, which is never set back but stops during sleep. */
  readonly endsAtElapsed: number
}

export type Locate = AddressGuard['locate']

interface GoogleTokenOptions {
  readonly clock?: Clock & Stopwatch
  /** Undefined for the operator's own account, whose endpoint may be anywhere. */
  readonly locate?: Locate | undefined
}

export class GoogleTokenSource {
  readonly #credential: Secret
  readonly #scope: string
  readonly #clock: Clock & Stopwatch
  readonly #locate: Locate
  #kept: Token | undefined
  #exchange: Promise<string> | undefined

  constructor(
    credential: Secret,
    scope: string,
    { clock = systemClock, locate = anywhere }: GoogleTokenOptions = {},
  ) {
    this.#credential = credential
    this.#scope = scope
    this.#clock = clock
    this.#locate = locate
  }

  /**
   * Concurrent callers share one token request.
   * @throws GoogleTokenError
   */
  async get(): Promise<string> {
    if (this.#kept !== undefined && this.#leftMs(this.#kept) > MARGIN_MS) return this.#kept.text
    this.#exchange ??= this.#renew().finally(() => {
      this.#exchange = undefined
    })
    return await this.#exchange
  }

  async #renew(): Promise<string> {
    try {
      const requestedAt = this.#clock.now()
      const requestedAtElapsed = this.#clock.elapsed()
      const { text, lifetimeMs } = await exchange(this.#credential, this.#scope, this.#locate)
      this.#kept = {
        text,
        endsAt: requestedAt + lifetimeMs,
        endsAtElapsed: requestedAtElapsed + lifetimeMs,
      }
      return text
    } catch (thrown) {
      // While the endpoint is unavailable, the old token is used until its expiry.
      const isUnavailable = thrown instanceof GoogleTokenError && !thrown.isRefusal
      if (isUnavailable && this.#kept !== undefined && this.#leftMs(this.#kept) > 0)
        return this.#kept.text
      throw thrown
    }
  }

  #leftMs({ endsAt, endsAtElapsed }: Token): number {
    return Math.min(endsAt - this.#clock.now(), endsAtElapsed - this.#clock.elapsed())
  }
}

const sources = new WeakMap<Secret, GoogleTokenSource>()

/**
 * A credential belongs to one provider with one scope, so the cache needs no other key.
 * @throws GoogleTokenError
 */
export function googleTokenOf(credential: Secret, scope: string, locate?: Locate): Promise<string> {
  let source = sources.get(credential)
  if (source === undefined) {
    source = new GoogleTokenSource(credential, scope, { locate })
    sources.set(credential, source)
  }
  return source.get()
}

async function exchange(credential: Secret, scope: string, locate: Locate) {
  const account = parseServiceAccount(credential.reveal())
  // The library would send to Google's address instead of the account's, so the library only signs.
  const exchanging = new GoogleToken({
    email: account.email,
    key: account.privateKey,
    scope,
    additionalClaims: { aud: account.tokenUri },
    transporter: {
      request: async ({ data }) => ({ data: await ask(account.tokenUri, data, locate) }) as never,
    },
  })
  const answer: unknown = await exchanging
    .getToken({ forceRefresh: true })
    .catch((thrown: unknown) => {
      // Other errors come from signing and may contain parts of the key, so such errors are
      // replaced.
      throw thrown instanceof GoogleTokenError
        ? thrown
        : refusal('has a private_key that cannot be used')
    })
  return readToken(answer)
}

interface ServiceAccount {
  readonly email: string
  readonly privateKey: string
  readonly tokenUri: string
}

/**
 * Enough for 4,096 bits; Google's keys have 2,048. Signing blocks all calls, and twice the bits
 * take eight times as long.
 */
const MAX_PRIVATE_KEY_LENGTH = 4_096

function parseServiceAccount(text: string): ServiceAccount {
  const account = parseRecord(text)
  if (account === undefined) throw refusal('is not valid JSON')
  const { type, client_email: email, private_key: privateKey, token_uri: tokenUri } = account
  if (type !== 'service_account') throw refusal('has a type other than "service_account"')
  if (typeof email !== 'string' || email === '') throw refusal('has no client_email')
  if (typeof privateKey !== 'string' || privateKey === '') throw refusal('has no private_key')
  if (privateKey.length > MAX_PRIVATE_KEY_LENGTH)
    throw refusal('has a private_key that is too long')
  if (typeof tokenUri !== 'string' || !maySendTo(tokenUri))
    throw refusal('has no token_uri with an https address')
  return { email, privateKey, tokenUri }
}

/** A signed assertion is as valuable as a token, so only this machine gets assertions over http. */
function maySendTo(address: string): boolean {
  const url = URL.parse(address)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])$/

const anywhere: Locate = async (url) => ({ url, host: undefined, serverName: undefined })

const MAX_ANSWER_BYTES = 64 * 1024

async function ask(tokenUri: string, form: unknown, locate: Locate): Promise<object> {
  let status: number
  let text: string
  try {
    const { url, host, serverName, isDirect } = await locate(tokenUri)
    const response = await fetch(url, {
      method: 'POST',
      body: String(form),
      decompress: false,
      ...(serverName === undefined ? {} : { tls: { serverName } }),
      ...(isDirect === true ? { proxy: false } : {}),
      headers: {
        ...(host === undefined ? {} : { host }),
        'accept-encoding': 'identity',
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      // Follow no redirect: the assertion may go only to the account's endpoint.
      redirect: 'manual',
      signal: AbortSignal.timeout(EXCHANGE_TIMEOUT_MS),
    })
    status = response.status
    const read = await readAtMost(response.body ?? [], MAX_ANSWER_BYTES)
    if (read === undefined) throw new Error('the answer is too long')
    text = read.toString('utf8')
  } catch (thrown) {
    if (thrown instanceof AddressRefusedError)
      throw refusal(`has a token_uri that is not allowed. ${thrown.message}`)
    throw failure('could not be reached')
  }
  const answer = parseRecord(text) ?? {}
  if (status >= 200 && status < 300) return answer
  const code =
    typeof answer.error === 'string' && /^[a-z_]{1,40}$/.test(answer.error)
      ? answer.error
      : undefined
  const described = `HTTP ${status}${code === undefined ? '' : `, ${code}`}`
  if (status >= 500 || status === 429 || status === 408) throw failure(`failed (${described})`)
  throw refusal(`was refused by its token endpoint (${described})`)
}

function readToken(answer: unknown): { readonly text: string; readonly lifetimeMs: number } {
  const { access_token: text, expires_in: seconds } = toRecord(answer) ?? {}
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw failure('answered without a token')
  return { text, lifetimeMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : 0 }
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    return toRecord(JSON.parse(text))
  } catch {
    return undefined
  }
}

function toRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)
    : undefined
}

function refusal(what: string): GoogleTokenError {
  return new GoogleTokenError(`The gateway's service account ${what}.`, { isRefusal: true })
}

function failure(what: string): GoogleTokenError {
  return new GoogleTokenError(`The token endpoint of the gateway's service account ${what}.`, {
    isRefusal: false,
  })
}
