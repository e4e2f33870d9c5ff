/** Sends one request of a probe and reads a bounded part of its answer. */

import type { Timekeeper } from '../../core/clock.ts'
import { EditedBytes } from '../../core/edited-bytes.ts'
import type { CredentialHeader } from '../../core/owned-model.ts'
import { type AddressGuard, AddressRefusedError } from '../../net/address-guard.ts'
import type { Exchange, Upstream } from '../../net/exchange.ts'
import type { HeaderFields } from '../../net/fields.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import type { OwnedUpstream } from '../ports.ts'

/** An embedding of many dimensions is about 100 KB; an answer of one token is a few KB. */
const MAX_ANSWER_BYTES = 1024 * 1024

/**
 * In milliseconds. A server that is loading its model still accepts or refuses connections at once.
 */
const MAX_CONNECT_MS = 5_000

export type CredentialPlace = Exclude<CredentialHeader, 'auto'>

export interface ProbeAnswer {
  readonly status: number
  readonly headers: HeaderFields
  /** Undefined for an answer larger than any plausible answer. */
  readonly body: Uint8Array | undefined
}

/** The host does not exist or is not allowed. Nothing was sent, so a retry does not help. */
export class UnlocatedError extends Error {
  override readonly name = 'UnlocatedError'
}

interface ProbeRequest {
  readonly path: string
  readonly body: object
  readonly place: CredentialPlace
  /** On the clock's `elapsed` scale. */
  readonly endsAt: number
  readonly signal: AbortSignal
}

interface ProbeExchangePorts {
  readonly clock: Pick<Timekeeper, 'elapsed'>
  readonly addresses: Pick<AddressGuard, 'resolve'>
  readonly upstream: Upstream
}

export async function exchangeForProbe(
  { clock, addresses, upstream }: ProbeExchangePorts,
  { provider, credential }: OwnedUpstream,
  { path, body, place, endsAt, signal }: ProbeRequest,
): Promise<ProbeAnswer> {
  const url = provider.baseUrl + path
  const checked = await addresses.resolve(url).catch(refuseToLocate)
  const leftMs = Math.max(1, endsAt - clock.elapsed())
  const key = credential?.secret?.reveal()
  const exchange = upstream.open({
    url,
    addresses: checked,
    group: 'owned',
    headers: {
      ...provider.headers,
      ...(key === undefined ? {} : { [place]: place === 'authorization' ? `Bearer ${key}` : key }),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    },
    body: new EditedBytes({ bytes: new TextEncoder().encode(JSON.stringify(body)) }),
    timeouts: {
      connectMs: Math.min(leftMs, MAX_CONNECT_MS),
      firstByteMs: leftMs,
      idleMs: leftMs,
    },
    totalMs: leftMs,
    signal,
  })
  try {
    const { status, headers } = await exchange.send()
    return { status, headers, body: await readUpTo(exchange, MAX_ANSWER_BYTES) }
  } finally {
    exchange.close()
  }
}

function refuseToLocate(cause: unknown): never {
  const reason =
    cause instanceof AddressRefusedError
      ? `The address is not allowed: ${cause.message}`
      : cause instanceof UpstreamFailure
        ? cause.message
        : 'The server could not be reached.'
  throw new UnlocatedError(reason, { cause })
}

async function readUpTo(exchange: Exchange, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const chunk = await exchange.read()
    if (chunk === undefined) return Buffer.concat(chunks)
    size += chunk.byteLength
    if (size > limit) return undefined
    chunks.push(chunk)
  }
}
