/**
 * Checks a server's connections to upstreams, and its handles, by its own metrics. Must not know how it connects.
 */
import type { Finding } from '../core/finding.ts'
import { readAtMost } from '../core/http.ts'
import type { Secret } from '../core/secret.ts'
import { findingsOf } from './finding.ts'

const { ok, warn } = findingsOf('connections')
const WITHIN_MS = 5_000
/** Fewer calls than this say nothing. */
const FEWEST_CALLS = 100

interface Counts {
  readonly opened: number
  readonly reused: number
  readonly failed: number
}

/**
 * @param token what reads the metrics; undefined: nothing was given
 * @returns nothing where the metrics are elsewhere or not to be read: that is as the operator wants
 * it
 */
export async function checkConnections(
  base: string,
  token: Secret | undefined,
): Promise<Finding[]> {
  const text = await fetch(`${base}/metrics`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(WITHIN_MS),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token.reveal()}` } }),
  }).then(
    (response) => (response.status === 200 ? readAnswer(response) : ''),
    () => '',
  )
  return [
    ...[...readCounts(text)].map(([provider, counts]) => judge(provider, counts)),
    ...checkHandles(text),
  ]
}

/** From this part of them on a server keeps no idle connection. */
const FEW_LEFT_AT = 0.8

function checkHandles(text: string): Finding[] {
  const [open] = [...text.matchAll(OPEN_HANDLES)].map(([, value]) => Number(value))
  const [most] = [...text.matchAll(MOST_HANDLES)].map(([, value]) => Number(value))
  if (open === undefined || most === undefined || open < most * FEW_LEFT_AT) return []
  const message = `${open} of its ${most} handles are open: without one it asks no upstream`
  return [warn(message, 'Raise its limit of open files (ulimit -n, LimitNOFILE)')]
}

const OPEN_HANDLES = /^gatehouse_handles\{state="open"\} (\d{1,15})$/gm
const MOST_HANDLES = /^gatehouse_handles\{state="most"\} (\d{1,15})$/gm

function judge(provider: string, { opened, reused, failed }: Counts): Finding {
  const made = opened + failed
  const message = `${provider}: ${opened} opened for ${opened + reused} calls, ${failed} failed`
  if (made >= 10 && failed * 2 > made)
    return warn(
      message,
      'See the log for why; check the network, the firewall and the proxy ' +
        'between here and there',
    )
  if (opened + reused >= FEWEST_CALLS && opened > reused)
    return warn(
      `${message}: most calls pay for a handshake`,
      'See whether the upstream or a proxy before it closes connections after each answer',
    )
  return ok(message)
}

function readCounts(text: string): ReadonlyMap<string, Counts> {
  const found = new Map<string, Counts>()
  for (const line of text.split('\n')) {
    const [, provider, event, value] = LINE.exec(line) ?? []
    if (provider === undefined || event === undefined) continue
    const counts = found.get(provider) ?? { opened: 0, reused: 0, failed: 0 }
    found.set(provider, { ...counts, [event]: Number(value) })
  }
  return found
}

const LINE =
  /^gatehouse_upstream_connections_total\{provider="([a-z0-9-]{1,64})",event="(opened|reused|failed)"\} (\d{1,15})$/

/** Larger than the metrics of any gateway. */
const MAX_BYTES = 32 * 1024 * 1024

/** @returns nothing of an answer that is longer than a gateway's */
export async function readAnswer(response: Response): Promise<string> {
  return new TextDecoder().decode(await readAtMost(response.body ?? [], MAX_BYTES))
}
