/** Limits as callers see them: the texts of refusals, and the `x-ratelimit-*` headers. */
import { amountOf, type BudgetScope, steers } from '../core/budget.ts'
import { GatewayError } from '../core/errors.ts'
import { toNanoUsd, toUsdText } from '../core/money.ts'
import type { SpendState } from '../core/spend-state.ts'
import type { TokenBucket } from './token-bucket.ts'
import type { BudgetCounter, Shortage, UsageWindow } from './usage-counter.ts'

const CONCURRENCY_RETRY_MS = 1000
const RESERVED_RETRY_MS = 1000

export type Holder = keyof CallBuckets

const HOLDERS: Readonly<Record<Holder, string>> = {
  key: 'this key or token is',
  account: 'all keys and tokens of this account together are',
}

export function tooManyRequests(holder: Holder, buckets: CallBuckets): GatewayError {
  const { perMinute, waitMs } = toWait(buckets[holder])
  return rateLimited(
    `Rate limit reached for requests per minute: ${HOLDERS[holder]} allowed ${perMinute}. ` +
      `Please try again in ${waitMs / 1000}s.`,
    waitMs,
    { limit: 'requests_per_minute', headers: toHeaders(buckets) },
  )
}

function toWait(buckets: RateBuckets | undefined) {
  const { perMinute = 0 } = buckets?.requests ?? {}
  return { perMinute, waitMs: buckets?.requests.waitMsFor(1) ?? 0 }
}

export function tooManyConcurrent(
  holder: Holder,
  buckets: CallBuckets,
  concurrentCalls: number,
): GatewayError {
  return rateLimited(
    `Rate limit reached for concurrent calls: ${HOLDERS[holder]} allowed ${concurrentCalls} ` +
      `at a time. Please try again in ${CONCURRENCY_RETRY_MS / 1000}s.`,
    CONCURRENCY_RETRY_MS,
    { limit: 'concurrent_calls', headers: toHeaders(buckets) },
  )
}

export function tooManyTokens(
  buckets: CallBuckets & { key: RateBuckets },
  wanted: number,
  isAlone: boolean,
): GatewayError {
  const { tokens } = buckets.key
  // While the bucket is in debt, calls on other nodes may prevent this call.
  const othersMs = isAlone && !tokens.lends(wanted) ? 0 : CONCURRENCY_RETRY_MS
  const waitMs = tokens.waitMsForCall(wanted, othersMs)
  const why =
    tokens.debt > 0
      ? `has used ${tokens.debt} more, and may make one call at a time until they are paid`
      : `and this call may use ${wanted}`
  return rateLimited(
    `Rate limit reached for tokens per minute: this key or token is allowed ${tokens.perMinute}, ` +
      `${why}. Please try again in ${waitMs / 1000}s.`,
    waitMs,
    { limit: 'tokens_per_minute', headers: toHeaders(buckets) },
  )
}

export function quotaRefusal(
  what: 'tokens' | 'spend',
  limit: number,
  { window, shortage }: { window: UsageWindow; shortage: Shortage },
): GatewayError {
  const quota = what === 'tokens' ? `${limit} tokens` : `$${limit}`
  const name = `the account's monthly quota of ${quota}`
  const used = {
    name,
    limit: what === 'tokens' ? 'monthly_tokens' : 'monthly_spend',
    spend:
      what === 'tokens'
        ? undefined
        : {
            period: 'month' as const,
            usedNanoUsd: window.nanoUsd,
            limitNanoUsd: toNanoUsd(limit),
            endsAtMs: window.endsAtMs,
          },
  }
  return shortage === 'reserved' ? allReserved(used) : exhausted(used, window)
}

const SCOPE_WORDS: Readonly<Record<BudgetScope['type'], string>> = {
  account: 'this account',
  key: 'this key or token',
  gate: 'this gate',
  user: 'this user',
  tag: 'a tag of this call',
  'each-user': 'this user',
  'each-key': 'this key or token',
}

export function budgetRefusal(
  counter: BudgetCounter,
  {
    window,
    shortage,
    hasNoTarget = false,
  }: { window: UsageWindow; shortage: Shortage; hasNoTarget?: boolean },
): GatewayError {
  const { budget, ceilings } = counter
  const { limit, scope, atLimit } = budget
  const ceiling = amountOf(limit, ceilings)
  const amount = limit.type === 'tokens' ? `${ceiling} tokens` : `$${toUsdText(ceiling)}`
  const of = SCOPE_WORDS[scope.type]
  const each = budget.period === 'total' ? 'in total' : `a ${budget.period}`
  const refusalPercent = Math.round((amountOf(limit, counter.refuseAt) / ceiling) * 100)
  const until = steers(budget) && !hasNoTarget ? ` (calls are refused at ${refusalPercent} %)` : ''
  const kind = atLimit === 'cheaper' ? 'cheaper' : 'free'
  const why = hasNoTarget ? [`The gate has no ${kind} target for this call.`] : []
  const message = [...why, ...(budget.message == null ? [] : [budget.message])].join(' ') || null
  const name = `the budget '${budget.name}' (${budget.id}) of ${of}, ${amount} ${each}${until},`
  const used = { name, limit: budget.id, message, spend: counter.spendIn(window) }
  return shortage === 'reserved' ? allReserved(used) : exhausted(used, window)
}

export function limitsUnavailable(): GatewayError {
  return new GatewayError('unavailable', 'Limits cannot be checked at the moment. Try again soon.')
}

export function reservedElsewhere(): GatewayError {
  return allReserved({ name: 'a quota or budget of this account' })
}

interface UsedLimit {
  readonly name: string
  readonly limit?: string
  /** The account's message, which follows the gateway's text. */
  readonly message?: string | null | undefined
  readonly spend?: SpendState | undefined
}

/**
 * Without `retry-after`: clients that ignore `x-should-retry` (opencode) would wait in silence until
 * the period ends.
 */
function exhausted({ name, message, ...used }: UsedLimit, window: UsageWindow): GatewayError {
  const words = message == null ? '' : ` ${message}`
  const until = Number.isFinite(window.endsAtMs)
    ? ` until ${new Date(window.endsAtMs).toISOString().replace('.000Z', 'Z')}`
    : ''
  return new GatewayError('quota_exceeded', `${capitalise(name)} is used up${until}.${words}`, used)
}

/** Clients may retry, because reservations are temporary. */
function allReserved({ name, message: _, spend: __, ...used }: UsedLimit): GatewayError {
  return rateLimited(
    `The rest of ${name} is reserved for running calls. Please try again when these calls have ended.`,
    RESERVED_RETRY_MS,
    { ...used, headers: {} },
  )
}

function rateLimited(
  message: string,
  waitMs: number,
  { headers, ...used }: { readonly limit?: string; readonly headers: Record<string, string> },
): GatewayError {
  return new GatewayError('rate_limited', message, {
    ...used,
    headers: { ...retryAfter(waitMs), 'retry-after-ms': String(waitMs), ...headers },
  })
}

function retryAfter(waitMs: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) }
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export interface RateBuckets {
  readonly requests: TokenBucket
  readonly tokens: TokenBucket
}

export interface CallBuckets {
  readonly key: RateBuckets | undefined
  readonly account?: RateBuckets | undefined
}

/**
 * The headers of OpenAI's API, for calls with a limit; reset is the time until the bucket is full.
 */
export function toHeaders({ key, account }: CallBuckets): Record<string, string> {
  const headers: Record<string, string> = {}
  if (key !== undefined) {
    addHeaders(headers, OF_REQUESTS, key.requests)
    addHeaders(headers, OF_TOKENS, key.tokens)
  }
  if (account !== undefined) addHeaders(headers, OF_ACCOUNT_REQUESTS, account.requests)
  return headers
}

/** The names are built once, because building them per call would cost more than their values. */
function toNames(of: string) {
  return {
    limit: `x-ratelimit-limit-${of}`,
    remaining: `x-ratelimit-remaining-${of}`,
    reset: `x-ratelimit-reset-${of}`,
  }
}

const OF_REQUESTS = toNames('requests')
const OF_TOKENS = toNames('tokens')
const OF_ACCOUNT_REQUESTS = toNames('account-requests')

function addHeaders(
  headers: Record<string, string>,
  { limit, remaining, reset }: ReturnType<typeof toNames>,
  bucket: TokenBucket,
): void {
  if (!Number.isFinite(bucket.perMinute)) return
  headers[limit] = String(bucket.perMinute)
  headers[remaining] = String(bucket.remaining)
  headers[reset] = formatDuration(bucket.resetMs)
}

/** Formats durations like OpenAI: `120ms`, `1s`, `7.66s`, `6m0s`, `1h0m0s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return durationMs === 0 ? '0s' : `${durationMs}ms`
  const seconds = `${(durationMs % 60_000) / 1000}s`
  const minutes = Math.floor(durationMs / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60
    ? `${minutes}m${seconds}`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}
