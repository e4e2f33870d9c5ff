/**
 * Checks a server's connections to upstreams by its own metrics. Must not know how it connects.
 */
import type { Secret } from '../core/secret.ts'
import { type Finding, findingsOf } from './finding.ts'
import { readAnswer } from './read-answer.ts'

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
  return [...readCounts(text)].map(([provider, counts]) => judge(provider, counts))
}

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
